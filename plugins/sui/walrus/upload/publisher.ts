import { StepFailure } from "./failure.ts";
import type { Upload } from "./upload.ts";

/** A Blob object that a publisher stored. */
export interface Published {
  /** Object id. */
  readonly objectId: string;
  /** Walrus blob id. */
  readonly blobId: string;
  /** First epoch in which it is no longer stored. */
  readonly endEpoch: number;
}

/**
 * Has a publisher store a blob in a new Blob object of a wallet. `force` asks for a new object also
 * where the blob is stored already: somebody else's object is of no use here.
 *
 * @throws {StepFailure} `unreachable`; whether it was stored is then unknown.
 */
export async function publish(
  http: typeof fetch,
  url: string,
  blob: Uint8Array<ArrayBuffer>,
  wallet: string,
  epochs: number,
): Promise<Published> {
  const query = new URLSearchParams({
    epochs: String(epochs),
    deletable: "true",
    force: "true",
    send_object_to: wallet,
  });
  // Not the bytes themselves: fetch repeats a request with those when its connection breaks.
  const body = new Blob([blob]);
  const response = await http(`${url}/v1/blobs?${query}`, { method: "PUT", body });
  const published = publishedOf(await response.json().catch(() => undefined));
  if (published === undefined) {
    throw new StepFailure("unreachable", "publisher", "the publisher names no new blob");
  }
  return published;
}

function publishedOf(answer: unknown): Published | undefined {
  const created = member(answer, "newlyCreated");
  const object = member(created, "blobObject");
  const [objectId, blobId] = [member(object, "id"), member(object, "blobId")];
  const endEpoch = member(member(object, "storage"), "endEpoch");
  if (typeof objectId !== "string" || typeof blobId !== "string") return undefined;
  if (typeof endEpoch !== "number") return undefined;
  return { objectId, blobId, endEpoch };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Whether what a publisher stored is what it was given. */
export function isPublished(published: Published, upload: Upload): boolean {
  return published.blobId === upload.encoded?.blobId;
}

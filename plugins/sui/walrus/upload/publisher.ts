import { StepFailure } from "./failure.ts";

/**
 * Has a publisher store a blob in a new Blob object of a wallet. `force` asks for a new object also
 * where the blob is stored already: somebody else's object is of no use here.
 *
 * @returns the Walrus blob id of what was stored.
 * @throws {StepFailure} `unreachable`; whether the blob was stored is then unknown.
 */
export async function publish(
  http: typeof fetch,
  url: string,
  blob: Uint8Array<ArrayBuffer>,
  wallet: string,
  epochs: number,
): Promise<string> {
  const query = new URLSearchParams({
    epochs: String(epochs),
    deletable: "true",
    force: "true",
    send_object_to: wallet,
  });
  // A Blob, because fetch repeats a request with bytes when its connection breaks.
  const body = new Blob([blob]);
  const response = await http(`${url}/v1/blobs?${query}`, { method: "PUT", body });
  const answer: unknown = await response.json().catch(() => undefined);
  const blobId = member(member(member(answer, "newlyCreated"), "blobObject"), "blobId");
  if (typeof blobId === "string") return blobId;
  throw new StepFailure("unreachable", "publisher", "the publisher names no new blob");
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Record<string, unknown>)[name];
}

import { encodeQuilt } from "@mysten/walrus";

/** A quilt made of the form of a request. */
export interface QuiltForm {
  /** Its bytes. */
  readonly quilt: Uint8Array<ArrayBuffer>;
  /** Its patches in their order. */
  readonly patches: readonly {
    readonly identifier: string;
    readonly startIndex: number;
    readonly endIndex: number;
  }[];
}

type Tags = Readonly<Record<string, string>>;

function tagsOf(metadata: FormDataEntryValue | null): Map<string, Tags> | string {
  if (metadata === null) return new Map();
  if (typeof metadata !== "string") return "_metadata must be a text field";
  try {
    const entries: unknown = JSON.parse(metadata);
    if (!Array.isArray(entries)) return "_metadata must be an array";
    const tags = new Map<string, Tags>();
    for (const { identifier, tags: own = {} } of entries) tags.set(String(identifier), own);
    return tags;
  } catch {
    return "_metadata must be JSON";
  }
}

async function contentsOf(entry: FormDataEntryValue): Promise<Uint8Array<ArrayBuffer>> {
  return typeof entry === "string"
    ? new TextEncoder().encode(entry)
    : new Uint8Array(await entry.arrayBuffer());
}

/**
 * Reads a multipart form (a file per patch, named by its identifier, and `_metadata` with tags) and
 * makes a quilt of it. A text says what is wrong with the form.
 */
export async function readQuiltForm(
  request: Request,
  body: Uint8Array<ArrayBuffer>,
  shards: number,
): Promise<QuiltForm | string> {
  let form: FormData;
  try {
    const type = request.headers.get("content-type") ?? "";
    form = await new Response(body, { headers: { "content-type": type } }).formData();
  } catch {
    return "the body must be a multipart form";
  }
  const tags = tagsOf(form.get("_metadata"));
  if (typeof tags === "string") return tags;
  const blobs: { identifier: string; contents: Uint8Array; tags?: Record<string, string> }[] = [];
  for (const [identifier, entry] of form) {
    if (identifier === "_metadata") continue;
    const own = tags.get(identifier);
    blobs.push({
      identifier,
      contents: await contentsOf(entry),
      ...(own === undefined ? {} : { tags: { ...own } }),
    });
  }
  const unknown = [...tags.keys()].find((identifier) => !form.has(identifier));
  if (unknown !== undefined) return `_metadata names ${unknown}, which is no file of the form`;
  if (blobs.length === 0) return "the form has no files";
  try {
    const { quilt, index } = encodeQuilt({ blobs, numShards: shards });
    return { quilt, patches: index.patches };
  } catch (error) {
    return error instanceof Error ? error.message : "the quilt cannot be made";
  }
}

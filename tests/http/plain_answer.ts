import type { Answer } from "../relayer_fixture.ts";

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * An answer without what is drawn by chance, so that those of two relayers can be compared: ids by
 * their first appearance, keys, addresses, blobs, cursors, signatures, times.
 */
export function plain({ status, headers, text }: Pick<Answer, "status" | "headers" | "text">) {
  const seen: string[] = [];
  const kept = [...headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  return JSON.stringify([status, kept, text], undefined, 1)
    .replace(UUIDS, (id) => {
      if (!seen.includes(id)) seen.push(id);
      return `id ${seen.indexOf(id)}`;
    })
    .replace(/(0x)?[0-9a-f]{64}/g, "address")
    .replace(/svct1\.[\w-]+/g, "token")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")
    // Blob ids name their owner's bytes: two owners have two.
    .replace(/((?:blob_id|next_cursor|signature)\\":\\")[^"\\]+/g, "$1some");
}

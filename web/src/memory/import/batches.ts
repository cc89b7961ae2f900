import { IMPORT_MEMORIES } from "../../../../src/wire/limits.ts";
import { randomUuid } from "../../../../src/client/transport.ts";
import type { PlacedLine } from "./import_lines.ts";

/** Most bytes of a request, unless one memory alone has more. */
const BATCH_BYTES = 1_048_576;

const utf8 = new TextEncoder();

/** Memories that are sent together, until it is known what became of them. */
export interface Batch {
  readonly items: readonly PlacedLine[];
  readonly ndjson: string;
  /** A repetition is answered as the first one was. */
  readonly idempotencyKey: string;
}

/** The next batch of what is left, from this place on; `undefined` at the end. */
export function batchFrom(
  items: readonly PlacedLine[],
  from: number,
  namespaceOf: (line: PlacedLine["line"]) => unknown,
): Batch | undefined {
  const lines: string[] = [];
  let bytes = 0;
  for (const { line } of items.slice(from, from + IMPORT_MEMORIES)) {
    const text = JSON.stringify({ ...line, type: "memory", namespace: namespaceOf(line) });
    bytes += utf8.encode(text).length + 1;
    if (lines.length > 0 && bytes > BATCH_BYTES) break;
    lines.push(text);
  }
  if (lines.length === 0) return undefined;
  return {
    items: items.slice(from, from + lines.length),
    ndjson: lines.join("\n"),
    idempotencyKey: randomUuid(),
  };
}

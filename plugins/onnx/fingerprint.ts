import { createHash } from "node:crypto";
import type { LoadRequest } from "./messages.ts";

/** Raised whenever the same model makes other vectors of the same documents. */
const VERSION = 1;

/**
 * What the vectors of documents depend on, in 12 hex characters: the model's files, and how texts
 * are brought to it. The prefix of queries is no part of it, since no vector of a query is kept.
 */
export function fingerprintOf({ manifest, dimensions, window }: LoadRequest): string {
  const { files, pooling, output, document, alone } = manifest;
  const sums = files.map(({ path, sha256 }) => [path, sha256]).sort();
  const parts = [VERSION, sums, pooling, output ?? "", document, alone ?? false, window];
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);
  return dimensions === manifest.dimensions ? hash : `${hash}/${dimensions}`;
}

import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { SvcError } from "../../errors.ts";

/** A file of the built dashboard, ready to be sent. */
export interface WebFile {
  /** Value of `content-type`. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The file, compressed; absent where that does not pay. */
  readonly gzip?: Uint8Array<ArrayBuffer>;
  /** Value of `etag`. */
  readonly tag: string;
}

/** What the built dashboard consists of: nothing else is ever read or served. */
export const WEB_FILES: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "chain.js": "text/javascript; charset=utf-8",
  "importers.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/**
 * Reads the built dashboard into memory; it is small.
 *
 * @param folder Address of the folder, with a slash at its end.
 * @throws {SvcError} `internal_error` when a file is missing.
 */
export async function readWebFiles(
  folder: URL,
): Promise<ReadonlyMap<string, WebFile>> {
  const files = new Map<string, WebFile>();
  for (const [name, type] of Object.entries(WEB_FILES)) {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await Deno.readFile(new URL(name, folder));
    } catch (cause) {
      throw new SvcError(
        "internal_error",
        `The dashboard's ${name} is missing`,
        { cause },
      );
    }
    const gzip = new Uint8Array(gzipSync(bytes, { level: 9 }));
    const tag = `"${hash("sha256", bytes, "hex").slice(0, 32)}"`;
    files.set(name, {
      type,
      bytes,
      tag,
      ...(gzip.length < bytes.length ? { gzip } : {}),
    });
  }
  return files;
}

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Arrow, Lancedb } from "./library_api.ts";
import { LATER } from "../../src/later.ts";
// The one part without native code: importing it is what makes the package resolvable below.
// @ts-types="./library_api.ts"
import "@lancedb/lancedb/embedding";

/** The packages that do the work: about 300 MB, fetched when this plugin is chosen. */
export interface Library {
  readonly lancedb: Lancedb;
  /** Its column format: the very copy the database uses, whose classes it checks for. */
  readonly arrow: Arrow;
}

const PACKAGE = import.meta.resolve("@lancedb/lancedb/embedding");

export function nativeFolder(): string {
  return fileURLToPath(new URL("../../../../", PACKAGE)).replace(/[/\\]$/, "");
}

/** Loads the native code; only the relayer may. */
export async function loadLibrary(): Promise<Library> {
  const { lancedb }: { readonly lancedb: Lancedb } = await import(`./native_package.ts${LATER}`);
  return { lancedb, arrow: createRequire(PACKAGE)("apache-arrow") };
}

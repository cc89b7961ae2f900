import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** This checkout's folder. */
export const ROOT: string = fileURLToPath(new URL("..", import.meta.url));

/**
 * Arguments of Deno for a program of a checkout, as its tasks have them. Without the lock Deno may ask
 * the registry for versions, which a program with an environment of its own may not reach.
 */
export const lockedIn = (folder: string): readonly string[] => [
  `--config=${join(folder, "deno.json")}`,
  `--lock=${join(folder, "deno.lock")}`,
  "--frozen",
];

/** Those for a program of this repository. */
export const LOCKED: readonly string[] = lockedIn(ROOT);

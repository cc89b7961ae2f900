import { fileURLToPath } from "node:url";

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/**
 * Arguments of Deno for a program of this repository, as its tasks have them. Without the lock Deno
 * may ask the registry for versions, which a program with an environment of its own may not reach.
 */
export const LOCKED: readonly string[] = [
  `--config=${path("deno.json")}`,
  `--lock=${path("deno.lock")}`,
  "--frozen",
];

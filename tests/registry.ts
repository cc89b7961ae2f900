import { REGISTRY } from "../src/program/launcher/child_spec.ts";
import { setVariables } from "../src/program/settings/mod.ts";

/**
 * What a process needs to fetch packages that no test has fetched yet. A machine's registry may have
 * a certificate of its own.
 */
export const REGISTRY_ENV: Readonly<Record<string, string>> = setVariables(
  Deno.env.toObject(),
  REGISTRY,
);

const cache = Deno.env.get("DENO_DIR") || undefined;

/** Where packages are, for a process with a home folder of its own. */
export const CACHE_ENV: Readonly<Record<string, string>> = cache === undefined
  ? { XDG_CACHE_HOME: `${Deno.env.get("HOME")}/.cache` }
  : { DENO_DIR: cache };

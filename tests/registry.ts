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

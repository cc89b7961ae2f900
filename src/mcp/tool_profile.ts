import { SvcError } from "../errors.ts";
import type { ToolProfile } from "../wire/table/tools.ts";

/**
 * Which tools an address asks for: `?tools=search` those that research asks for, else the memory
 * tools.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function readProfile(url: string): ToolProfile {
  const named = new URL(url).searchParams.getAll("tools");
  if (named.length === 0) return "memory";
  if (named.length === 1 && named[0] === "search") return "search";
  throw new SvcError("invalid_parameter", "tools must be search", { field: "tools" });
}

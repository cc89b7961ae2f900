import type { Scope } from "./mod.ts";

/** A scope as a key of a map; unambiguous, because an owner is an address and has no line feed. */
export function scopeKey({ owner, namespace }: Scope): string {
  return `${owner}\n${namespace}`;
}

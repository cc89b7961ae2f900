import type { Permission } from "../../interfaces/mod.ts";
import { PERMISSIONS } from "../../wire/keys.ts";

/**
 * Permissions that a `scope` names, in the usual order. Names that are not known here, such as
 * `offline_access`, are passed over (RFC 6749 3.3); the answer says what was granted.
 *
 * @returns all of them where none is named.
 */
export function scopeOf(text: string | undefined): readonly Permission[] {
  const names = (text ?? "").split(" ");
  const known = PERMISSIONS.filter((permission) => names.includes(permission));
  return known.length === 0 ? PERMISSIONS : known;
}

import { SvcError } from "../../src/errors.ts";
import type { Cipher } from "../../src/interfaces/mod.ts";
import { type Hooks, intercepted } from "./intercepted.ts";

/** A credential that opens what {@linkcode guarded} seals. */
export const SESSION = {
  "x-seal-session": btoa(JSON.stringify({ address: "0x1", sessionKey: "s" })),
};

/** A cipher that opens for a session only; hooks are within that check. */
export function guarded(cipher: Cipher, hooks: Hooks<Cipher> = {}): Cipher {
  const checked = intercepted(intercepted(cipher, hooks), {
    open: (next, items, { credential, ...context }) => {
      if (credential?.session === undefined) throw new SvcError("decrypt_credential_invalid");
      return next(items, context);
    },
  });
  return new Proxy(checked, {
    get: (target, name) => name === "needsCredential" ? true : Reflect.get(target, name),
  });
}

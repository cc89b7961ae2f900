import { secretWords } from "../src/client/text/redacted_words.ts";
import type { SvcError } from "../src/client/mod.ts";

/** What to do about a text that was refused because of a secret in it. */
export function secretRefusal({ extra }: SvcError): string {
  return `Not saved: the text holds a secret (${
    secretWords(extra)
  }). Say it without the secret, or ` +
    "add --redact, which saves the rest. Whether secrets are taken is set by SVC_SECRETS";
}

/** What to do about refusals that have to do with where a relayer is and whose it is, by code. */
export const REFUSALS: ReadonlyMap<string | undefined, string> = new Map([
  [
    "audience_mismatch",
    "The relayer has another address than the one it was called by. Use its own, or have its " +
    "operator set SVC_PUBLIC_URL or SVC_ALLOWED_HOSTS",
  ],
  [
    "signature_invalid",
    "The relayer does not take the signature. Something on the way may change requests; a relayer " +
    "of an earlier version that is not the one where you signed in needs --send-key",
  ],
  [
    "decrypt_credential_required",
    "The relayer opens memories with a session of your key. It is not sent over plain http, nor " +
    "without --send-key to another relayer than the one where you signed in",
  ],
]);

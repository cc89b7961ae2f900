import { SvcError } from "../../../src/errors.ts";

/** Too few key servers can be used, or the settings do not fit what the chain says about one. */
export function keyServersDown(
  cause?: unknown,
  message = "The key servers do not answer",
): SvcError {
  return new SvcError("key_service_unavailable", message, { cause });
}

export function chainDown(cause?: unknown): SvcError {
  return new SvcError("chain_unavailable", undefined, { cause });
}

/** The credential opens nothing here; callers are not told why. */
export function credentialRefused(cause?: unknown): SvcError {
  return new SvcError("decrypt_credential_invalid", undefined, { cause });
}

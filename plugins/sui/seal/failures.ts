import { SvcError } from "../../../src/errors.ts";

/** Too few key servers can be used. */
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

/** The settings do not fit what the chain says about a key server. */
export function misconfigured(message: string): SvcError {
  return new SvcError("key_service_unavailable", message);
}

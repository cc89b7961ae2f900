import { SvcError } from "../../../src/errors.ts";

/** The key servers, or too many of them, do not do their part. */
export function keyServersDown(
  cause?: unknown,
  message = "The key servers do not answer",
): SvcError {
  return new SvcError("key_service_unavailable", message, { cause });
}

/** The chain cannot be read. */
export function chainDown(cause?: unknown): SvcError {
  return new SvcError("chain_unavailable", undefined, { cause });
}

/** The credential opens nothing here; says nothing about why. */
export function credentialRefused(cause?: unknown): SvcError {
  return new SvcError("decrypt_credential_invalid", undefined, { cause });
}

/** The settings do not fit what the chain says of a key server. */
export function misconfigured(message: string): SvcError {
  return new SvcError("key_service_unavailable", message);
}

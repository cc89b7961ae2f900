import { SvcError } from "./errors.ts";

/**
 * Why a port cannot be had, by the setting to change: trying again does not help before that.
 *
 * @param setting What chooses the port.
 * @param cause What `Deno.serve` threw.
 * @returns `undefined` when it is not because of the port.
 */
export function portFailure(
  setting: string,
  host: string,
  port: number,
  cause: unknown,
): SvcError | undefined {
  if (cause instanceof Deno.errors.AddrInUse) {
    return refused(`${setting}: ${host}:${port} is in use by another program`, cause);
  }
  if (cause instanceof Deno.errors.PermissionDenied) {
    return refused(`${setting}: listening on ${port} needs more rights than this user has`, cause);
  }
  return undefined;
}

/** Why the relayer cannot listen: its port, or else its host. */
export function listenFailure(host: string, port: number, cause: unknown): SvcError {
  return portFailure("SVC_PORT", host, port, cause) ??
    // An unknown name, a foreign address and one without its interface each have their own error.
    refused(`SVC_HOST: ${host} is no address of this machine`, cause);
}

function refused(message: string, cause: unknown): SvcError {
  return new SvcError("invalid_parameter", message, { cause });
}

import { invalid } from "./invalid.ts";
import type { SvcError } from "../errors.ts";

/**
 * Why a port cannot be had, by the setting to change: trying again does not help before that.
 *
 * @param setting What chooses the port.
 * @param cause What listening threw.
 * @returns `undefined` when it is not because of the port.
 */
export function portFailure(
  setting: string,
  host: string,
  port: number,
  cause: unknown,
): SvcError | undefined {
  if (cause instanceof Deno.errors.AddrInUse) {
    return invalid(`${setting}: ${host}:${port} is in use by another program`, cause);
  }
  if (cause instanceof Deno.errors.PermissionDenied) {
    return invalid(`${setting}: listening on ${port} needs more rights than this user has`, cause);
  }
  return undefined;
}

/**
 * Why the relayer cannot listen: its port, or its host.
 *
 * @returns `undefined` for any other reason, which may pass.
 */
export function listenFailure(host: string, port: number, cause: unknown): SvcError | undefined {
  // An unknown name and an address without its interface have no class of their own.
  const isHost = cause instanceof Deno.errors.AddrNotAvailable ||
    cause instanceof Error && /lookup address|Invalid argument/.test(cause.message);
  return portFailure("SVC_PORT", host, port, cause) ??
    (isHost ? invalid(`SVC_HOST: ${host} is no address of this machine`, cause) : undefined);
}

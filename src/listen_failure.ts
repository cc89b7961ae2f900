import { SvcError } from "./errors.ts";

/**
 * Why the relayer cannot listen, by the setting to change: trying again does not help before that.
 *
 * @param cause What `Deno.serve` threw.
 */
export function listenFailure(host: string, port: number, cause: unknown): SvcError {
  const refused = (message: string) => new SvcError("invalid_parameter", message, { cause });
  if (cause instanceof Deno.errors.AddrInUse) {
    return refused(`SVC_PORT: ${host}:${port} is in use by another program`);
  }
  if (cause instanceof Deno.errors.PermissionDenied) {
    return refused(`SVC_PORT: listening on ${port} needs more rights than this user has`);
  }
  // An unknown name, a foreign address and one without its interface each have their own error.
  return refused(`SVC_HOST: ${host} is no address of this machine`);
}

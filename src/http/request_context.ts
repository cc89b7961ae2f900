import type { RelayerConfig } from "../interfaces/config.ts";
import type { Target } from "./target.ts";

/** What every step of a request's way needs. */
export interface RequestContext {
  readonly request: Request;
  readonly target: Target;
  /** Id in header, body and log. */
  readonly requestId: string;
  /** Address of the socket's peer; empty when the request came in process. */
  readonly peer: string;
  readonly clientIp: string;
}

/** Host and port as the client names them: HTTP/2 has them in the address, without a header. */
export function hostOf(request: Request): string {
  return request.headers.get("host") ?? URL.parse(request.url)?.host ?? "";
}

/** `{base_url}`: configured, or as the client addressed the relayer. */
export function baseUrl(config: RelayerConfig, request: Request): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  return `http://${hostOf(request)}`;
}

const REQUEST_ID = /^[A-Za-z0-9:._-]{1,128}$/;

/** The caller's request id when it is well formed, else a new one. */
export function requestIdOf(headers: Headers): string {
  for (const name of ["x-request-id", "x-correlation-id"]) {
    const id = headers.get(name);
    if (id !== null && REQUEST_ID.test(id)) return id;
  }
  return crypto.randomUUID();
}

import type { LogLevel } from "../log.ts";
import { answerChallenge, isSameSecret, TOKEN_HEADER } from "./challenge.ts";

/** What a sidecar is started with; crosses a pipe as one line of JSON. */
export interface SidecarBoot {
  /** Address to listen on, `http://127.0.0.1:9000`. */
  readonly url: string;
  /** Secret shared with the relayer. */
  readonly token: string;
  /** Least important lines that are logged. */
  readonly logLevel: LogLevel;
  /** Format of log lines. */
  readonly logFormat: "text" | "json";
}

/** Largest body of a challenge in bytes. */
const MAX_CHALLENGE = 1024;

const notFound = () => Response.json({ error: "Not found", code: "not_found" }, { status: 404 });

/** A nonce out of a small JSON body; `undefined` for anything else. */
async function readNonce(request: Request): Promise<string | undefined> {
  const length = request.headers.get("content-length") ?? "";
  if (!/^\d{1,4}$/.test(length) || Number(length) > MAX_CHALLENGE) return undefined;
  try {
    const body: unknown = await request.json();
    if (typeof body !== "object" || body === null || !("nonce" in body)) return undefined;
    return typeof body.nonce === "string" && /^[0-9a-f]{64}$/.test(body.nonce)
      ? body.nonce
      : undefined;
  } catch {
    return undefined;
  }
}

/** Answers the sidecar's own routes: the challenge, and its health for those who know the token. */
export function sidecarHandler(token: string): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/challenge" && request.method === "POST") {
      const nonce = await readNonce(request);
      return nonce === undefined ? notFound() : new Response(answerChallenge(token, nonce));
    }
    if (!isSameSecret(request.headers.get(TOKEN_HEADER) ?? "", token)) return notFound();
    if (pathname === "/health" && request.method === "GET") return Response.json({ status: "ok" });
    return notFound();
  };
}

/** A sidecar that listens. */
export interface Sidecar extends AsyncDisposable {
  /** Port it listens on. */
  readonly port: number;
}

/**
 * Listens on the loopback address of the boot line.
 *
 * @throws {Deno.errors.AddrInUse} when somebody else has the port.
 */
export function startSidecar(boot: Pick<SidecarBoot, "url" | "token">): Sidecar {
  const { hostname, port } = new URL(boot.url);
  const server = Deno.serve(
    { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80), onListen() {} },
    sidecarHandler(boot.token),
  );
  return {
    port: server.addr.port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

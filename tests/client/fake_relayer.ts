import { errorResponse, SvcError } from "../../src/errors.ts";
import { canonicalText } from "../../src/wire/signing/signing.ts";
import { nativeBodySha256, verifyStrict } from "../../src/wire/signing/verify.ts";
import { answersAreMadeUp } from "../watched_answers.ts";

/** One request as the fake relayer received it. */
export interface Received {
  readonly method: string;
  /** Path and query as on the wire. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
  /** Whether a valid signature covers exactly this request. */
  readonly signed: boolean;
}

/** Answers a request; `n` counts the requests of this method and path from 0. */
export type Answer = (request: Received, n: number) => Response | Promise<Response>;

/** A relayer that checks signatures for real and answers as told. */
export interface FakeRelayer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

function isSigned(method: string, target: string, headers: Headers, body: Uint8Array): boolean {
  const publicKey = headers.get("x-public-key");
  const signature = headers.get("x-signature");
  const timestamp = headers.get("x-timestamp");
  if (!publicKey || !signature || !timestamp) return false;
  const message = canonicalText({
    timestamp,
    method,
    target,
    bodySha256: nativeBodySha256(body),
    nonce: headers.get("x-nonce") ?? undefined,
    accountId: headers.get("x-account-id") ?? undefined,
    audience: headers.get("x-audience") ?? undefined,
  });
  return verifyStrict(publicKey, message, Uint8Array.fromHex(signature));
}

/** Starts one; `routes` maps method and path (without query) to answers. */
export function fakeRelayer(routes: Readonly<Record<string, Answer>>): FakeRelayer {
  const received: Received[] = [];
  const counts = new Map<string, number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const target = pathname + search;
      const bytes = await request.bytes();
      const signed = isSigned(method, target, headers, bytes);
      const seen = { method, target, headers, body: new TextDecoder().decode(bytes), signed };
      const route = `${method} ${pathname}`;
      // A client asks for it before its first signed request; an older relayer has no such route.
      if (route !== "GET /version" || routes[route] !== undefined) received.push(seen);
      const n = counts.get(route) ?? 0;
      counts.set(route, n + 1);
      const answer = routes[route];
      if (answer === undefined) return errorResponse(new SvcError("not_found"), "r");
      if (pathname.startsWith("/api/") && !signed) {
        return errorResponse(new SvcError("signature_invalid"), "r");
      }
      return await answer(seen, n);
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  answersAreMadeUp(url);
  return {
    url,
    received,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An error answer. */
export function refusal(error: SvcError): Response {
  return errorResponse(error, "request-7");
}

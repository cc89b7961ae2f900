import { SvcError } from "../../src/errors.ts";
import type { Json } from "../relayer_fixture.ts";
import { messagesOf, type TestSidecar } from "./fixture.ts";

/** Options of {@linkcode call}. */
export interface CallOptions {
  /** Headers of its session. */
  readonly headers?: Record<string, string>;
  /** Metadata of the request. */
  readonly meta?: Record<string, unknown>;
}

/** Messages of one call in a session of its own. */
export async function call(
  test: TestSidecar,
  name: string,
  args: unknown,
  { headers = {}, meta }: CallOptions = {},
): Promise<Json[]> {
  const id = { ...headers, "mcp-session-id": await test.open(headers) };
  const params = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
  const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params };
  return await messagesOf(await test.send("POST", "/api/mcp", body, id));
}

/** Result of one call in a session of its own. */
export async function result(
  test: TestSidecar,
  name: string,
  args: unknown,
  options: CallOptions = {},
) {
  return (await call(test, name, args, options)).at(-1).result;
}

const ACCOUNT = { key: { permissions: ["read", "write"] } };

/** Answers routes with bodies or errors; every account is in order. */
export function fakeRelayer(routes: Readonly<Record<string, unknown>>) {
  return (url: string, init: RequestInit): Promise<Response> => {
    init.signal?.throwIfAborted();
    const answer = { "/api/account": ACCOUNT, ...routes }[new URL(url).pathname] ?? {};
    if (answer instanceof SvcError) {
      const { message, code, status } = answer;
      return Promise.resolve(Response.json({ error: message, code }, { status }));
    }
    return Promise.resolve(Response.json(answer));
  };
}

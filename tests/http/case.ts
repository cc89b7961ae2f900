import assert from "node:assert/strict";
import { ERROR_CODES } from "../../src/errors.ts";
import type { Answer, SendOptions, TestRelayer } from "../relayer_fixture.ts";

/** A request that is refused, and how. */
export interface Case {
  /** What is wrong with it. */
  readonly name: string;
  readonly method?: string;
  readonly target: string;
  readonly body?: unknown;
  /** How it is signed; `unsigned` sends no signature headers. */
  readonly sign?: "unsigned" | SendOptions | ((svc: TestRelayer) => SendOptions);
  /** Status and code of the answer. */
  readonly answer: readonly [status: number, code: string];
  /** Member at fault; absent when the body must not name one. */
  readonly field?: string;
}

/** The request of a case, to any base address. */
export function requestOf(svc: TestRelayer, item: Case): Request {
  const { method = "POST", target, body, sign = {} } = item;
  if (sign === "unsigned") {
    const bytes = body === undefined ? undefined : JSON.stringify(body);
    return new Request(`http://localhost:8000${target}`, {
      method,
      ...(bytes === undefined
        ? {}
        : { body: bytes, headers: { "content-type": "application/json" } }),
    });
  }
  const options = typeof sign === "function" ? sign(svc) : sign;
  return svc.request(method, target, body, options);
}

/** The body of an error: exactly the members of the protocol, and nothing a caller sent. */
export function assertError(
  answer: Answer,
  [status, code]: Case["answer"],
  expected: Readonly<Record<string, unknown>> = {},
  name = "",
): void {
  const { body, headers } = answer;
  assert.equal(`${answer.status} ${body?.code}`, `${status} ${code}`, name);
  assert.ok((ERROR_CODES as readonly string[]).includes(code), name);
  assert.equal(headers.get("content-type"), "application/json", name);
  const retryAfter = headers.get("retry-after");
  assert.deepEqual(body, {
    error: body.error,
    code,
    request_id: headers.get("x-request-id"),
    ...(retryAfter === null ? {} : { retry_after_seconds: Number(retryAfter) }),
    ...expected,
  }, name);
  assert.ok(typeof body.error === "string" && body.error.length > 0, name);
}

/** The answer a case expects. */
export function assertCase(answer: Answer, item: Case): void {
  const field = item.field === undefined ? {} : { field: item.field };
  assertError(answer, item.answer, field, `${item.method ?? "POST"} ${item.target}: ${item.name}`);
}

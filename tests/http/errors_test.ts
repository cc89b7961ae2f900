import assert from "node:assert/strict";
import { ERROR_CODES, errorResponse, SvcError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { read, startRelayer, testBackends, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

/** The table of the protocol: codes by status. */
const TABLE: Readonly<Record<number, string>> = {
  400: "malformed_json unsigned_query empty_text empty_query empty_question empty_items " +
    "empty_job_ids empty_namespace text_too_long query_too_long too_many_items too_many_job_ids " +
    "invalid_namespace invalid_metadata invalid_scoring_weights invalid_cursor " +
    "invalid_idempotency_key invalid_parameter invalid_encrypted_data secret_found invalid_vector " +
    "dimension_mismatch decrypt_credential_required decrypt_credential_invalid invalid_sender " +
    "invalid_transaction invalid_digest invalid_sponsor_signature sponsor_rejected " +
    "session_required already_initialized unsupported_protocol_version",
  401: "owner_proof_invalid auth_headers_missing auth_header_invalid nonce_invalid " +
    "timestamp_out_of_range signature_invalid nonce_reused audience_mismatch " +
    "account_not_authorized token_expired token_revoked",
  402: "quota_exceeded",
  403: "permission_denied move_call_not_allowed metrics_forbidden origin_not_allowed " +
    "host_not_allowed registration_closed session_mismatch key_over_plain_http",
  404: "not_found job_not_found memory_not_found blob_not_found sponsorship_not_found " +
    "session_not_found",
  405: "method_not_allowed",
  406: "not_acceptable",
  408: "request_timeout",
  409: "idempotency_conflict idempotency_in_progress job_not_retryable version_conflict " +
    "account_exists key_exists",
  413: "body_too_large",
  415: "unsupported_media_type",
  422: "invalid_request",
  426: "upgrade_required",
  429: "rate_limited session_limit",
  431: "headers_too_large",
  500: "internal_error",
  502: "sidecar_unavailable sponsor_upstream_error",
  503: "chain_unavailable storage_unavailable embedding_unavailable llm_unavailable " +
    "key_service_unavailable llm_disabled sponsor_disabled sponsor_overloaded " +
    "sponsor_budget_exhausted limiter_unavailable overloaded shutting_down",
};

Deno.test("every code has its status, and a body of its own", async () => {
  verifies("5-1", "5-2", "5-4", "5-7", "5-24");
  const listed = Object.values(TABLE).flatMap((codes) => codes.split(" "));
  assert.deepEqual([...ERROR_CODES].toSorted(), listed.toSorted());
  for (const [status, codes] of Object.entries(TABLE)) {
    for (const code of codes.split(" ")) {
      assert.match(code, /^[a-z]+(_[a-z]+)*$/);
      const error = new SvcError(code as typeof ERROR_CODES[number]);
      assertError(await read(errorResponse(error, "id")), [Number(status), code]);
    }
  }
});

Deno.test("dependencies that are down and full queues say when to come back", () => {
  verifies("5-4", "5-18");
  const temporary = TABLE[503]!.split(" ").filter((code) => !code.endsWith("_disabled"));
  for (const code of temporary) {
    const error = new SvcError(code as typeof ERROR_CODES[number]);
    assert.ok((error.retryAfter ?? 0) > 0, code);
    assert.ok(error.retryable, code);
  }
});

Deno.test("a bug says nothing about itself, in the answer and in the log", async () => {
  verifies("5-17", "3-26", "3-27");
  const clock = new TestClock();
  const backends = await testBackends(clock);
  let log = "";
  const bug = () => {
    throw new TypeError("cannot read 'secret' of undefined at 10.1.2.3");
  };
  await using svc = await startRelayer({
    clock,
    backends: { ...backends, embedder: { ...backends.embedder, embed: bug } },
    logger: createLogger({ level: "debug", format: "text", write: (line) => log += line }),
  });
  const answer = await svc.post("/api/embed", { text: "tea" });
  assertError(answer, [500, "internal_error"]);
  assert.equal(answer.body.error, new SvcError("internal_error").message);
  assert.ok(log.includes("internal_error"));
  assert.ok(log.includes(answer.body.request_id));
  assert.ok(!log.includes("secret") && !log.includes("10.1.2.3"));
});

Deno.test("a dependency that is down is named, and nothing of it", async () => {
  verifies("5-18", "3-27");
  const clock = new TestClock();
  const backends = await testBackends(clock);
  const down = () =>
    Promise.reject(
      new SvcError("embedding_unavailable", undefined, { cause: new Error("10.1.2.3") }),
    );
  await using svc = await startRelayer({
    clock,
    backends: { ...backends, embedder: { ...backends.embedder, embed: down } },
  });
  const answer = await svc.post("/api/recall", { query: "tea" });
  assertError(answer, [503, "embedding_unavailable"]);
  assert.equal(answer.headers.get("retry-after"), "5");
  assert.ok(!answer.text.includes("10.1.2.3"));
});

Deno.test("objects of other owners are as if they were not there", async () => {
  verifies("5-16", "10.2-2", "10.3-8", "10.9-8", "10.6-24");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const unknown = crypto.randomUUID();
  const { key } = await svc.addAccount();
  const requests = [
    ["GET", "/api/remember/:id"],
    ["POST", "/api/remember/:id/retry"],
    ["GET", "/api/memories/:id"],
    ["DELETE", "/api/memories/:id"],
  ] as const;
  for (const [method, path] of requests) {
    const ask = async (which: string) => {
      const answer = await svc.send(method, path.replace(":id", which), undefined, { key });
      assert.equal(answer.status, 404, path);
      const { request_id: _, ...body } = answer.body;
      return body;
    };
    assert.deepEqual(await ask(id), await ask(unknown), path);
  }
  const { body } = await svc.post("/api/remember/bulk/status", { job_ids: [id, unknown] }, { key });
  assert.deepEqual(body.results, [
    { job_id: id, status: "not_found" },
    { job_id: unknown, status: "not_found" },
  ]);
  assert.deepEqual(await svc.recall("tea", {}, { key }), []);
});

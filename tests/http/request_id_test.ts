import assert from "node:assert/strict";
import { isUuid } from "../../src/wire/keys.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

Deno.test("a well-formed request id is reused, anything else replaced", async () => {
  verifies("3-11", "3-12", "3-13", "5-3");
  await using svc = await startRelayer();
  const sent = async (headers: Record<string, string>) => {
    const answer = await svc.plain("GET", "/nothing", undefined, { headers });
    const id = answer.headers.get("x-request-id");
    assert.equal(answer.body.request_id, id);
    return id;
  };
  const longest = "a".repeat(128);
  for (const id of ["a", "A-Z_a.z:0-9", longest]) {
    assert.equal(await sent({ "x-request-id": id }), id);
    assert.equal(await sent({ "x-correlation-id": id }), id);
    assert.equal(await sent({ "x-request-id": id, "x-correlation-id": "other" }), id);
  }
  for (const id of ["", longest + "a", "a b", "a,b", "a/b", "ä", "<a>"]) {
    assert.ok(isUuid(await sent({ "x-request-id": id }) ?? ""), id);
    assert.equal(await sent({ "x-request-id": id, "x-correlation-id": "other" }), "other");
  }
  assert.notEqual(await sent({}), await sent({}));
});

Deno.test("every kind of answer has a request id", async () => {
  verifies("3-11");
  await using svc = await startRelayer();
  const headers = { "x-request-id": "mine" };
  const answers = [
    await svc.plain("GET", "/version", undefined, { headers }),
    await svc.plain("GET", "/metrics", undefined, { headers }),
    await svc.plain("OPTIONS", "/api/recall", undefined, { headers }),
    await svc.plain("DELETE", "/version", undefined, { headers }),
    await svc.post("/api/stats", {}, { headers }),
    await svc.post("/api/remember", { text: "tea" }, { headers }),
    await svc.post("/api/remember", { text: "" }, { headers }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 204, 405, 200, 202, 400]);
  for (const answer of answers) assert.equal(answer.headers.get("x-request-id"), "mine");
});

Deno.test("unknown x- headers are ignored", async () => {
  verifies("3-14");
  await using svc = await startRelayer();
  const { status } = await svc.post("/api/stats", {}, {
    headers: { "x-unknown": "1", "x-svc-client-ip": "1.2.3.4", "x-svc-sidecar-token": "guess" },
  });
  assert.equal(status, 200);
});

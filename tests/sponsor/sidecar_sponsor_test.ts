import "../checked_relayers.ts";
import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { loopbackFetch } from "../../src/http1/loopback_fetch.ts";
import { connectProven } from "../../src/http1/sidecar_connections.ts";
import { type Sidecar, startSidecar } from "../../src/mcp/process.ts";
import { openSponsor } from "../../src/program/plugins.ts";
import { createLogger } from "../../src/log.ts";
import { chooseAddresses } from "../../src/program/launcher/addresses.ts";
import { createRelayer } from "../../src/relayer.ts";
import { memoryBackends } from "../../plugins/memory/mod.ts";
import { read } from "../relayer_fixture.ts";
import { FakeSponsor } from "./fake_sponsor.ts";
import { kind, PACKAGE, SENDER } from "./kinds.ts";
import { signature } from "./sponsoring.ts";
import { verifies } from "../requirements.ts";

const TOKEN = "token-of-the-test";
const ASKED = { sender: SENDER, transactionBlockKindBytes: kind().toBase64() };

/** A relayer whose sponsor is a sidecar's, and the sidecar, which can be stopped and started. */
async function proxied() {
  const { sidecarUrl: url } = chooseAddresses({
    sidecarUrl: "http://127.0.0.1:0",
    port: 0,
    webPort: 0,
  });
  const sponsor = new FakeSponsor();
  const lines: string[] = [];
  const logger = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const start = () => startSidecar({ url, token: TOKEN }, logger, Promise.resolve(sponsor));
  let sidecar: Sidecar = start();
  const relayer = await createRelayer({
    backends: memoryBackends(),
    sidecar: { url, token: TOKEN },
    sidecarSponsors: true,
    config: { packageId: PACKAGE },
  });
  const post = async (path: string, body: unknown) =>
    await read(
      await relayer.fetch(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      ),
    );
  return {
    url,
    sponsor,
    lines,
    post,
    get: async (path: string) =>
      await read(await relayer.fetch(new Request(`http://localhost${path}`))),
    stop: () => sidecar[Symbol.asyncDispose](),
    start: () => void (sidecar = start()),
    async [Symbol.asyncDispose]() {
      await relayer[Symbol.asyncDispose]();
      await sidecar[Symbol.asyncDispose]();
    },
  };
}

Deno.test("the relayer hands both routes to the sidecar, which alone pays", async () => {
  verifies("1-5", "9.1-2");
  await using svc = await proxied();
  const { status, body } = await svc.post("/sponsor", ASKED);
  assert.equal(status, 200);
  const executed = await svc.post("/sponsor/execute", {
    digest: body.digest,
    signature: signature(),
  });
  assert.deepEqual([executed.status, executed.body], [200, { digest: body.digest }]);
  assert.deepEqual(svc.sponsor.paid, [body.digest]);
  assert.equal((await svc.get("/config")).body.sponsorEnabled, true);
  assert.deepEqual((await svc.get("/health")).body.dependencies.sponsor, { status: "ok" });
});

Deno.test("the sidecar's own routes are for whoever proves to know the token", async () => {
  await using svc = await proxied();
  for (const headers of [{}, { "x-svc-sidecar-token": TOKEN }]) {
    for (const path of ["/sponsor", "/sponsor/execute"]) {
      const response = await fetch(`${svc.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(ASKED),
      });
      assert.equal(response.status, 404);
      await response.body?.cancel();
    }
  }
  assert.equal(svc.sponsor.calls.sponsor, 0);
  const refusals: [RequestInit, number][] = [
    [{ method: "GET" }, 405],
    [{ method: "POST", body: "{" }, 400],
    [{ method: "POST", body: "{}" }, 422],
    [{ method: "POST", body: " ".repeat(20_000) }, 413],
  ];
  const connect = () => connectProven(svc.url, { token: TOKEN, listens: "sidecar" });
  using call = loopbackFetch(svc.url, connect);
  for (const [{ method = "GET", body }, status] of refusals) {
    const bytes = new TextEncoder().encode(String(body ?? ""));
    const response = await call(`${svc.url}/sponsor`, {
      method,
      ...(body === undefined ? {} : { body: bytes }),
    });
    await response.body?.cancel();
    assert.equal(response.status, status);
  }
});

Deno.test("what the sponsor refuses with crosses the sidecar; what is a bug does not", async () => {
  await using svc = await proxied();
  const { body: { digest } } = await svc.post("/sponsor", ASKED);
  const failures: [Error, number, string][] = [
    [new SvcError("sponsor_overloaded", undefined, { retryAfter: 7 }), 503, "sponsor_overloaded"],
    [new SvcError("sponsor_upstream_error"), 502, "sponsor_upstream_error"],
    [new SvcError("sponsor_rejected", "It would fail"), 400, "sponsor_rejected"],
    [new SvcError("invalid_sponsor_signature"), 400, "invalid_sponsor_signature"],
    [new SvcError("storage_unavailable"), 502, "sponsor_upstream_error"],
    [new Error("key suiprivkey1abc"), 502, "sponsor_upstream_error"],
  ];
  for (const [error, status, code] of failures) {
    svc.sponsor.fail = { call: "execute", error };
    const answer = await svc.post("/sponsor/execute", { digest, signature: signature() });
    assert.deepEqual([answer.status, answer.body.code], [status, code]);
    assert.ok(!answer.text.includes("suiprivkey"));
    if (code === "sponsor_overloaded") assert.equal(answer.body.retry_after_seconds, 7);
    if (code === "sponsor_rejected") assert.equal(answer.body.error, "It would fail");
  }
  const { sponsor } = (await svc.get("/health")).body.dependencies;
  assert.deepEqual(sponsor, { status: "degraded", reason: "The last call failed" });
  // The sidecar's log names what happened, and quotes nothing.
  const codes = svc.lines.map((line) => JSON.parse(line).code);
  assert.deepEqual(codes, [
    "sponsor_overloaded",
    "sponsor_upstream_error",
    "storage_unavailable",
    "internal_error",
  ]);
  assert.ok(!svc.lines.join().includes("suiprivkey"));
});

Deno.test("without its sidecar nothing is sponsored, and afterwards as before", async () => {
  await using svc = await proxied();
  const { body: { digest } } = await svc.post("/sponsor", ASKED);
  await svc.stop();
  for (
    const [path, body] of [
      ["/sponsor", ASKED],
      ["/sponsor/execute", { digest, signature: signature() }],
    ] as const
  ) {
    const answer = await svc.post(path, body);
    assert.deepEqual([answer.status, answer.body.code], [502, "sidecar_unavailable"]);
  }
  const { text } = await svc.get("/metrics");
  assert.match(text, /svc_sidecar_failures_total\{reason="unreachable"\} 2/);
  const { sponsor } = (await svc.get("/health")).body.dependencies;
  assert.equal(sponsor.status, "down");
  svc.start();
  assert.equal(
    (await svc.post("/sponsor/execute", { digest, signature: signature() })).status,
    200,
  );
  assert.deepEqual(svc.sponsor.paid, [digest]);
});

Deno.test("a relayer that is told of no sidecar says so", async () => {
  await using relayer = await createRelayer({
    backends: memoryBackends(),
    sidecarSponsors: true,
    config: { packageId: PACKAGE },
  });
  const answer = await read(
    await relayer.fetch(
      new Request("http://localhost/sponsor", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(ASKED),
      }),
    ),
  );
  assert.deepEqual([answer.status, answer.body.code], [502, "sidecar_unavailable"]);
});

Deno.test("a sponsor that cannot be opened is logged; MCP goes on without it", async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const opening = openSponsor({ name: "file:///nowhere/sponsor.ts", env: { KEY: "k3y" } }, logger);
  await assert.rejects(opening, { code: "sponsor_upstream_error" });
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /SVC_SPONSOR=file:.* cannot be loaded/);
  assert.ok(!lines[0]!.includes("k3y"));
});

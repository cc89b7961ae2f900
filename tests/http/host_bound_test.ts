import assert from "node:assert/strict";
import type { RelayerConfig } from "../../src/interfaces/config.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { startRelayer, TestKey, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const OURS = "https://memory.example.com";
const MISMATCH = [401, "audience_mismatch"] as const;

async function start(config: Partial<RelayerConfig>, listener?: string): Promise<TestRelayer> {
  const svc = await startRelayer({ config });
  if (listener !== undefined) svc.relayer.listensAt(listener);
  return svc;
}

/** Sends a signed request for an origin, with a Host and from a peer. */
function stats(svc: TestRelayer, audience: string, host: string, peer = "127.0.0.1") {
  return svc.post("/api/stats", {}, { audience, headers: { host }, peer });
}

Deno.test("the host-bound form names the relayer that the request is for, in front", async () => {
  verifies("4.2-10", "4.2-11", "4.3-26");
  await using svc = await start({ publicUrl: OURS });
  const asked = await svc.post("/api/stats", {}, { audience: OURS });
  assert.equal(asked.status, 200);
  // Signed for a stranger's relayer, and passed on by it as it came.
  for (const stranger of ["https://evil.example.com", "http://memory.example.com", `${OURS}:444`]) {
    assertError(await svc.post("/api/stats", {}, { audience: stranger }), MISMATCH);
  }
  // Relabelled, the signature does not fit; neither does it without the header.
  for (const audience of [OURS, null]) {
    const request = svc.request("POST", "/api/stats", {}, { audience: "https://evil.example.com" });
    if (audience === null) request.headers.delete("x-audience");
    else request.headers.set("x-audience", audience);
    assertError(await svc.fetch(request), [401, "signature_invalid"]);
  }
  const published = svc.request("POST", "/api/stats", {});
  published.headers.set("x-audience", OURS);
  assertError(await svc.fetch(published), [401, "signature_invalid"]);
});

Deno.test("other spellings of the origin, and one without a nonce, are refused", async () => {
  verifies("4.1-11", "4.2-11");
  await using svc = await start({ publicUrl: OURS });
  for (const audience of [`${OURS}/`, "HTTPS://memory.example.com", `${OURS}:443`, "null", "x"]) {
    assertError(await svc.post("/api/stats", {}, { audience }), MISMATCH, {}, audience);
  }
  const bare = await svc.post("/api/stats", {}, { form: 4, headers: { "x-audience": OURS } });
  assertError(bare, [401, "auth_header_invalid"]);
  assert.equal((await svc.post("/api/stats", {}, { headers: { "x-audience": "" } })).status, 200);
});

Deno.test("without a public address the listener's names on this machine are its own", async () => {
  verifies("4.2-12");
  await using svc = await start({}, "http://127.0.0.1:8000");
  for (const name of ["127.0.0.1", "localhost", "[::1]"]) {
    const { status } = await stats(svc, `http://${name}:8000`, "127.0.0.1:8000");
    assert.equal(status, 200, name);
  }
  for (
    const other of ["http://127.0.0.1:8001", "https://127.0.0.1:8000", "http://127.0.0.2:8000"]
  ) {
    assertError(await stats(svc, other, "127.0.0.1:8000"), MISMATCH, {}, other);
  }
});

Deno.test("beside a public address, a name every machine has is for this machine only", async () => {
  verifies("4.2-12");
  const config = { publicUrl: OURS, allowedHosts: ["memory.lan"], trustedProxies: ["10.0.0.1"] };
  await using svc = await start(config, "http://127.0.0.1:8000");
  const local = "http://127.0.0.1:8000";
  assert.equal((await stats(svc, local, "127.0.0.1:8000")).status, 200);
  assert.equal((await stats(svc, "http://memory.lan", "memory.lan")).status, 200);
  // Signed on another machine for what listened there, and passed on from there.
  assertError(await stats(svc, local, "127.0.0.1:8000", "192.0.2.7"), MISMATCH);
  assertError(await stats(svc, local, "memory.example.com"), MISMATCH);
  assertError(await stats(svc, local, "127.0.0.1:8000", "10.0.0.1"), MISMATCH);
  const forwarded = { host: "127.0.0.1:8000", "x-forwarded-for": "192.0.2.7" };
  const passed = await svc.post("/api/stats", {}, { audience: local, headers: forwarded });
  assertError(passed, MISMATCH);
});

Deno.test("a relayer offers the form under its own names only", async () => {
  verifies("9-22");
  await using svc = await start({ publicUrl: OURS }, "http://127.0.0.1:8000");
  const offers = async (host: string) => {
    const { body } = await svc.plain("GET", "/version", undefined, { headers: { host } });
    return body.featureFlags["auth.hostBound"];
  };
  assert.equal(await offers("memory.example.com"), true);
  assert.equal(await offers("127.0.0.1:8000"), true);
  assert.equal(await offers("6.6.6.6:8000"), false);
  assert.equal(await offers("other.example.com"), false);
});

Deno.test("a relayer that wants the form refuses the published ones with 426", async () => {
  verifies("4.3-25", "15-33", "9-22");
  await using svc = await start({ publicUrl: OURS, requireHostBound: true });
  for (const form of [4, 6] as const) {
    assertError(await svc.post("/api/stats", {}, { form }), [426, "upgrade_required"]);
  }
  assert.equal((await svc.post("/api/stats", {}, { audience: OURS })).status, 200);
  const { body } = await svc.plain("GET", "/version", undefined, { headers: { host: "x" } });
  const flags = body.featureFlags;
  assert.deepEqual(
    [flags["auth.hostBound"], flags["auth.hostBoundRequired"], flags["auth.legacySignature"]],
    [true, true, false],
  );
  // A program that embeds the relayer, and the sidecar, reach no other relayer.
  const account = await svc.relayer.account("ada");
  assert.equal((await account.stats()).memory_count, 0);
  const client = new SvcClient({
    baseUrl: "http://127.0.0.1:9",
    privateKey: new TestKey().seed.toHex(),
    form: "nonce",
    fetch: (url, init) => svc.relayer.fetchInternal(new Request(url, init), { isProven: true }),
    retry: { attempts: 1 },
  });
  await assert.rejects(client.account(), { code: "account_not_authorized" });
});

import assert from "node:assert/strict";
import { limitKey as capKey } from "../../src/wire/ip_addresses.ts";
import { TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { INITIALIZE, startSidecarTest, type TestSidecar } from "./fixture.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const ip = (address: string) => ({ "x-svc-client-ip": address });

/** A start that is refused: the cap it names and the wait. */
async function refusal(test: TestSidecar, address: string): Promise<[string, string | null]> {
  const response = await test.send("POST", "/api/mcp", INITIALIZE, ip(address));
  const { error } = await response.json();
  assert.equal(response.status, 429);
  assert.equal(error.code, -32000);
  assert.equal(error.data.code, "session_limit");
  assert.match(error.message, new RegExp(error.data.cap));
  const wait = response.headers.get("retry-after");
  assert.equal(String(error.data.retry_after_seconds), wait);
  return [error.data.cap, wait];
}

Deno.test("caps: in all, per address, per minute, in that order", async () => {
  verifies("11-11", "11-12", "11-32");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startSidecarTest({
    now: clock.now,
    limits: { sessions: 5, sessionsPerIp: 2, newSessionsPerIpPerMinute: 3 },
  });
  const close = async (id: string) => {
    assert.equal(
      (await test.send("DELETE", "/api/mcp", undefined, { "mcp-session-id": id })).status,
      200,
    );
  };
  const first = await test.open(ip("10.0.0.1"));
  await test.open(ip("10.0.0.1"));
  assert.deepEqual(await refusal(test, "10.0.0.1"), ["ip_active_cap", "30"]);
  await close(first);
  clock.advance(20_000);
  await close(await test.open(ip("10.0.0.1")));
  assert.deepEqual(await refusal(test, "10.0.0.1"), ["ip_burst_cap", "40"]);
  clock.advance(40_000);
  await test.open(ip("10.0.0.1"));
  for (const address of ["10.0.0.2", "10.0.0.3"]) await test.open(ip(address));
  const sse = await test.send("GET", "/api/mcp/sse", undefined, ip("10.0.0.3"));
  assert.equal(sse.status, 200);
  assert.equal(test.sidecar.stats().sessions, 5);
  assert.deepEqual(await refusal(test, "10.0.0.1"), ["global_cap", "30"]);
  await sse.body?.cancel();
  assert.deepEqual(test.sidecar.stats(), { sse: 0, streamable: 4, sessions: 4 });
});

Deno.test("a failed start frees its slot and counts in the minute", async () => {
  verifies("11-30", "11-31");
  await using test = await startSidecarTest({
    limits: { sessions: 1, sessionsPerIp: 1, newSessionsPerIpPerMinute: 3 },
  });
  for (let i = 0; i < 3; i++) {
    const authorization = `Bearer ${"cd".repeat(32)}`;
    const response = await test.send("POST", "/api/mcp", INITIALIZE, { authorization });
    assert.equal(response.status, 401);
    assert.equal(test.sidecar.stats().sessions, 0);
  }
  assert.equal((await refusal(test, "127.0.0.1"))[0], "ip_burst_cap");
  // Nobody looks for an account any more.
  const unknown = { authorization: `Bearer ${"cd".repeat(32)}` };
  assert.equal((await test.send("POST", "/api/mcp", INITIALIZE, unknown)).status, 429);
  // Headers that have no valid shape are refused before anything is counted.
  const shapeless = await test.send("POST", "/api/mcp", INITIALIZE, { authorization: "Bearer x" });
  assert.equal(shapeless.status, 401);
});

Deno.test("IPv6 addresses of one /64 are one client", () => {
  assert.equal(capKey("2001:db8::1"), capKey("2001:db8:0:0:ffff::2"));
  assert.notEqual(capKey("2001:db8::1"), capKey("2001:db8:0:1::1"));
  assert.notEqual(capKey("127.0.0.1"), capKey("127.0.0.2"));
  assert.equal(capKey("fe80::1%eth0"), capKey("fe80::2"));
  assert.equal(capKey("::1"), capKey("::2"));
});

Deno.test("idle Streamable sessions are closed, those with a stream are not", async () => {
  verifies("11-13");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startSidecarTest({ now: clock.now, limits: { idleSeconds: 100 } });
  const idle = await test.open();
  const used = await test.open();
  const listening = await test.open();
  const stream = await test.send("GET", "/api/mcp", undefined, { "mcp-session-id": listening });
  clock.advance(60_000);
  await (await test.send("POST", "/api/mcp", LIST, { "mcp-session-id": used })).text();
  clock.advance(60_000);
  assert.equal(test.sidecar.stats().streamable, 2);
  assert.equal((await test.send("POST", "/api/mcp", LIST, { "mcp-session-id": idle })).status, 404);
  await stream.body?.cancel();
  clock.advance(100_000);
  assert.equal(test.sidecar.stats().sessions, 0);
});

Deno.test("a session may be idle for half an hour by default", async () => {
  verifies("11-13", "16-18");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startSidecarTest({ now: clock.now }, { clock });
  await test.open();
  clock.advance(1_799_000);
  assert.equal(test.sidecar.stats().sessions, 1);
  clock.advance(1000);
  assert.equal(test.sidecar.stats().sessions, 0);
});

Deno.test("a removed key closes its sessions", async () => {
  verifies("11-6");
  const clock = new TestClock();
  await using test = await startSidecarTest({ now: clock.now }, { clock });
  const key = await test.svc.addKey();
  const headers = test.headers(key);
  const id = { ...headers, "mcp-session-id": await test.open(headers) };
  const stream = await test.send("GET", "/api/mcp", undefined, id);
  const sse = await test.send("GET", "/api/mcp/sse", undefined, headers);
  const reader = sse.body!.pipeThrough(new TextDecoderStream()).getReader();
  const path = /data: (\S+)/.exec((await reader.read()).value ?? "")?.[1];
  await test.svc.backends.accounts.admin!.removeKey(test.svc.account.accountId, key.publicKey);
  clock.advance(2000);
  const response = await test.send("POST", "/api/mcp", LIST, id);
  assert.equal(response.status, 401);
  assert.equal((await response.json()).error.data.code, "account_not_authorized");
  await stream.text();
  assert.equal((await test.send("POST", path!, LIST, headers)).status, 401);
  while (!(await reader.read()).done);
  assert.equal((await test.send("POST", path!, LIST, headers)).status, 404);
  assert.equal((await test.send("POST", "/api/mcp", LIST, id)).status, 404);
  assert.equal(test.sidecar.stats().sessions, 0);
});

Deno.test("a key that may only write has a session", async () => {
  await using test = await startSidecarTest();
  const key = await test.svc.addKey(["write"]);
  await test.open(test.headers(key));
});

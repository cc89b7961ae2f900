import assert from "node:assert/strict";
import { TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { INITIALIZE, startSidecarTest, type TestSidecar } from "./fixture.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const recall = (id: number) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "svc_recall", arguments: { query: "tea" } },
});

/** A sidecar that calls the relayer as a proven one. */
async function start(): Promise<{ readonly test: TestSidecar; readonly clock: TestClock }> {
  const clock = new TestClock();
  clock.freeze();
  const test: TestSidecar = await startSidecarTest({
    now: clock.now,
    fetch: (url, init) =>
      test.svc.relayer.fetchInternal(new Request(url, init), { isProven: true }),
  }, { clock });
  return { test, clock };
}

async function bearerOf(
  { svc }: TestSidecar,
  key = svc.key,
  more: object = {},
): Promise<{ authorization: string }> {
  const audience = "http://localhost:8000";
  const { body } = await svc.post("/api/session-token", { audience, ...more }, { key });
  return { authorization: `Bearer ${body.token}` };
}

/** Status of a message on a session. */
async function status(
  test: TestSidecar,
  id: string,
  bearer: { authorization: string },
  message: unknown = LIST,
): Promise<number> {
  const headers = { ...bearer, "mcp-session-id": id };
  const response = await test.send("POST", "/api/mcp", message, headers);
  await response.text();
  return response.status;
}

Deno.test("a token opens a session, and a renewed one goes on with it", async () => {
  verifies("11-2", "11-28", "11-41", "11-42");
  const { test, clock } = await start();
  await using _ = test;
  await test.svc.remember("tea with honey");
  const first = await bearerOf(test);
  const id = await test.open(first);
  const headers = { ...first, "mcp-session-id": id };
  const found = await (await test.send("POST", "/api/mcp", recall(1), headers)).text();
  assert.match(found, /tea with honey/);
  clock.advance(3_000_000);
  const second = await bearerOf(test);
  assert.equal(await status(test, id, second), 200);
  clock.advance(700_000);
  const later = { ...second, "mcp-session-id": id };
  const again = await (await test.send("POST", "/api/mcp", recall(2), later)).text();
  assert.match(again, /tea with honey/);
  assert.equal(await status(test, id, first), 401, "the first has ended");
  assert.equal(await status(test, id, second), 200, "which ends no session");
  // The last one ends with the session.
  clock.advance(3_600_000);
  assert.equal(await status(test, id, second), 401);
  assert.equal(await status(test, id, await bearerOf(test)), 404);
});

Deno.test("nobody gets into a session with a token that only claims its key", async () => {
  verifies("11-5", "11-43");
  const { test } = await start();
  await using _ = test;
  const bearer = await bearerOf(test);
  const id = await test.open(bearer);
  const bytes = Uint8Array.fromBase64(bearer.authorization.slice(13), { alphabet: "base64url" });
  bytes[66]! += 1; // much later
  bytes[bytes.length - 1]! ^= 1;
  const token = bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const forged = { authorization: `Bearer svct1.${token}` };
  assert.equal(await status(test, id, forged), 401);
  assert.equal(await status(test, id, await bearerOf(test, await test.svc.addKey())), 403);
  assert.equal(await status(test, id, bearer), 200, "the session is as it was");
  const opened = await test.send("POST", "/api/mcp", LIST, forged);
  assert.ok([400, 401].includes(opened.status));
  await opened.text();
  const account = { ...bearer, "x-svc-account-id": `0x${"1".repeat(64)}` };
  const other = await test.send("POST", "/api/mcp", LIST, account);
  assert.equal(other.status, 401);
  await other.text();
});

Deno.test("a key that was removed closes the session of its token", async () => {
  verifies("11-6");
  const { test, clock } = await start();
  await using _ = test;
  const key = await test.svc.addKey();
  const bearer = await bearerOf(test, key);
  const id = await test.open(bearer);
  const { accountId } = test.svc.account;
  await test.svc.backends.accounts.admin!.removeKey(accountId, key.publicKey);
  clock.advance(1000);
  assert.equal(await status(test, id, bearer), 401);
  assert.equal(await status(test, id, bearer), 404);
});

Deno.test("a token alone is enough, and names its namespace", async () => {
  verifies("11-41", "10.12-13");
  const { test } = await start();
  await using _ = test;
  await test.svc.remember("tea with honey", { namespace: "work" });
  await test.svc.remember("tea with milk");
  const token = await bearerOf(test, test.svc.key, { namespace: "work" });
  const alone = { ...token, "x-svc-account-id": null };
  const id = await test.open(alone);
  const said = async (headers: Record<string, string | null>) =>
    await (await test.send("POST", "/api/mcp", recall(1), headers)).text();
  const found = await said({ ...alone, "mcp-session-id": id });
  assert.match(found, /honey/);
  assert.doesNotMatch(found, /milk/);
  // What the host configures wins.
  const own = { ...alone, "x-svc-namespace": "default" };
  const other = await said({ ...own, "mcp-session-id": await test.open(own) });
  assert.match(other, /milk/);
  assert.doesNotMatch(other, /honey/);
  // Of the revision without sessions, too.
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const message = recall(1);
  const call = { ...message, params: { ...message.params, _meta: meta } };
  const answer = await test.send("POST", "/api/mcp", call, {
    ...alone,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "svc_recall",
  });
  assert.match(await answer.text(), /honey/);
  const bare = await test.send("POST", "/api/mcp", LIST, { "x-svc-account-id": null });
  assert.equal(bare.status, 401, "a key alone is not");
  await bare.text();
});

Deno.test("a token that grants less never goes on as one that grants more", async () => {
  verifies("11-42");
  const { test } = await start();
  await using _ = test;
  const all = await bearerOf(test);
  const reader = await bearerOf(test, test.svc.key, { permissions: ["read"], expires_in: 7200 });
  const id = await test.open(all);
  assert.equal(await status(test, id, reader), 403);
  const write = (headers: Record<string, string>) => {
    const params = { name: "svc_remember", arguments: { text: "coffee" } };
    return test.send("POST", "/api/mcp", { ...recall(2), params }, headers);
  };
  const of = await test.open(reader);
  const refused = await (await write({ ...reader, "mcp-session-id": of })).text();
  assert.match(refused, /permission_denied/);
  const same = await bearerOf(test, test.svc.key, { permissions: ["read"], expires_in: 9000 });
  assert.equal(await status(test, of, same), 200);
  assert.equal(await status(test, of, all), 403);
});

Deno.test("a token that ended, or whose key is gone, says so", async () => {
  verifies("11-3", "10.12-10");
  const { test, clock } = await start();
  await using _ = test;
  const key = await test.svc.addKey();
  const [short, long] = [
    await bearerOf(test, key, { expires_in: 60 }),
    await bearerOf(test, key, { expires_in: 7200 }),
  ];
  const refusal = async (bearer: { authorization: string }) => {
    const response = await test.send("POST", "/api/mcp", INITIALIZE, bearer);
    const { error } = await response.json();
    const challenge = response.headers.get("www-authenticate");
    return [response.status, error.code, error.data.code, challenge?.split(" ")[0]];
  };
  clock.advance(60_000);
  assert.deepEqual(await refusal(short), [401, -32001, "token_expired", "Bearer"]);
  await test.svc.backends.accounts.admin!.removeKey(test.svc.account.accountId, key.publicKey);
  assert.deepEqual(await refusal(long), [401, -32001, "token_revoked", "Bearer"]);
});

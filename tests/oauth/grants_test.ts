import assert from "node:assert/strict";
import { Grants } from "../../src/http/oauth/grants.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { REDIRECT, startOAuth } from "./fixture.ts";
import { verifies } from "../requirements.ts";

const DAY_MS = 86_400_000;
const ACCOUNT = `0x${"5f".repeat(32)}`;
const key = (digit: string) => ({ publicKey: digit.repeat(64), accountId: ACCOUNT });
const granted = {
  seed: "5c".repeat(32),
  clientId: "svcapp.a",
  redirectUri: REDIRECT,
  challenge: "c".repeat(43),
  scope: ["read"],
} as const;

/** Grants with a clock of their own, and the keys that left the account. */
function start() {
  const core = new CoreDb(":memory:");
  const relayerKey = new RelayerKey(new Uint8Array(32).fill(7));
  const clock = { now: 1_800_000_000_000 };
  const removed: string[] = [];
  const grants = new Grants({
    table: core.grants,
    sealer: (purpose) => relayerKey.sealer(purpose),
    mac: relayerKey.hmac("refresh token"),
    admin: {
      removeKey: (_account, publicKey) => {
        removed.push(publicKey);
        return Promise.reject(new Error("Its owner was faster"));
      },
    },
    now: () => clock.now,
  });
  return { core, grants, clock, removed };
}

const reused = () => assert.fail("nobody has shown it twice");

Deno.test("what nobody uses in time is swept, and its key leaves the account", async () => {
  verifies("11.1-21", "11.1-24", "11.1-26");
  const { core, grants, clock, removed } = start();
  using _ = core;
  grants.issueCode(key("a"), granted, new Set());
  const code = grants.issueCode(key("b"), granted, new Set(["a".repeat(64)]));
  const token = grants.openCode(code, reused).renew();
  clock.now += 59_999;
  await grants.sweep();
  assert.equal(core.grants.ofAccount(ACCOUNT).length, 2);
  clock.now += 1;
  await grants.sweep();
  assert.deepEqual(removed, [key("a").publicKey]);
  // A token keeps its grant for as long as it lasts, and so does each next one.
  clock.now += 89 * DAY_MS;
  const next = grants.openRefreshToken(token, reused).renew();
  clock.now += 89 * DAY_MS;
  await grants.sweep();
  assert.ok(grants.isOpen(key("b").publicKey));
  grants.openRefreshToken(next, reused);
  clock.now += DAY_MS;
  assert.equal(grants.isOpen(key("b").publicKey), false);
  await grants.sweep();
  assert.deepEqual(core.grants.ofAccount(ACCOUNT), []);
  assert.deepEqual(removed, [key("a").publicKey, key("b").publicKey]);
});

Deno.test("an account has no more rows than keys", () => {
  verifies("11.1-19");
  const { core, grants } = start();
  using _ = core;
  const listed = new Set<string>();
  for (const digit of "0123456789abcdef") {
    listed.clear();
    listed.add(key(digit).publicKey);
    grants.issueCode(key(digit), granted, listed);
    assert.equal(core.grants.ofAccount(ACCOUNT).length, 1);
  }
  assert.ok(grants.has(key("f").publicKey));
  assert.equal(grants.has(key("0").publicKey), false);
});

Deno.test("a code ends with its key, and shows no more than a minute", () => {
  verifies("11.1-21");
  const { core, grants, clock } = start();
  using _ = core;
  const code = grants.issueCode({ ...key("a"), expiresAt: clock.now + 10 }, granted, new Set());
  assert.equal(grants.isOpen(key("a").publicKey), false, "nobody has shown the code yet");
  clock.now += 10;
  assert.throws(() => grants.openCode(code, reused), /has ended/);
});

Deno.test("apps stay connected when the relayer starts anew", async () => {
  verifies("11.1-24", "11.1-27");
  const dataDir = await Deno.makeTempDir();
  const relayerKey = crypto.getRandomValues(new Uint8Array(32));
  await using first = await startOAuth({ dataDir, relayerKey });
  const tokens = await first.connect();
  await first.svc.relayer[Symbol.asyncDispose]();
  const { key, account, backends } = first.svc;
  const existing = { key, account };
  await using test = await startOAuth({ dataDir, relayerKey, existing, backends });
  const { status, body } = await test.refresh(tokens.refresh_token, tokens.client_id);
  assert.equal(status, 200);
  assert.equal((await test.message(body.access_token)).status, 200);
  await Deno.remove(dataDir, { recursive: true });
});

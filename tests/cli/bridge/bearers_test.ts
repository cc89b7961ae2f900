import assert from "node:assert/strict";
import { resolveSettings } from "../../../cli/settings.ts";
import { Bearers } from "../../../cli/bridge/bearers.ts";
import { turns } from "../../within.ts";
import { verifies } from "../../requirements.ts";
import { newCredentials } from "./setup.ts";

const MINUTE = 60_000;
const { signal } = new AbortController();

Deno.test("a relayer that does not know its address gets the key, if it is the saved one", async () => {
  verifies("13.3-9");
  const relayer = "http://127.0.0.1:8000";
  const credentials = await newCredentials(relayer);
  const mismatch = { error: "", code: "audience_mismatch" };
  const fetch = () => Promise.resolve(Response.json(mismatch, { status: 401 }));
  const home = new Bearers({ relayer, credentials, isForeign: false, mayHaveKey: true, fetch });
  assert.equal(await home.current(signal), credentials.delegatePrivateKey);
  const foreign = new Bearers({ relayer, credentials, isForeign: true, mayHaveKey: false, fetch });
  await assert.rejects(foreign.current(signal), { code: "audience_mismatch" });
});

Deno.test("over plain http whoever says that there are no tokens gets no key", async () => {
  verifies("13.3-9", "13.1-8");
  const relayer = "http://relayer.example:8000";
  const credentials = await newCredentials(relayer);
  const saved = { ...credentials, relayerUrl: relayer };
  const fetch = () => Promise.resolve(Response.json({}, { status: 404 }));
  const bearers = (args: readonly string[]) => {
    const { isForeign, mayHaveKey } = resolveSettings({ args, env: {}, saved });
    return new Bearers({ relayer, credentials, isForeign, mayHaveKey, fetch });
  };
  await assert.rejects(bearers([]).current(signal), {
    code: "upgrade_required",
    message: /plain http.*--send-key/,
  });
  const { delegatePrivateKey } = credentials;
  assert.equal(await bearers(["--send-key"]).current(signal), delegatePrivateKey);
});

/** Bearers of a relayer that answers as told; `made` counts its tokens. */
async function start(expires_in = 3600) {
  const relayer = "http://127.0.0.1:8000";
  const at = { now: 1_767_225_600_000, made: 0, asked: 0, isDown: false };
  const bearers = new Bearers({
    relayer,
    credentials: await newCredentials(relayer),
    isForeign: false,
    mayHaveKey: true,
    now: () => at.now,
    fetch: (url) => {
      if (url.endsWith("/version")) return Promise.resolve(Response.json({ featureFlags: {} }));
      at.asked++;
      if (at.isDown) return Promise.reject(new TypeError("refused"));
      return Promise.resolve(Response.json({ token: `svct1.${++at.made}`, expires_in }));
    },
  });
  return { at, current: () => bearers.current(signal), bearers };
}

Deno.test("a token is renewed before it ends, and nobody waits for it", async () => {
  verifies("13.3-9");
  const { at, current } = await start();
  assert.deepEqual(await Promise.all([current(), current()]), ["svct1.1", "svct1.1"]);
  at.now += 54 * MINUTE;
  assert.equal(await current(), "svct1.1");
  assert.equal(at.asked, 1);
  at.now += 2 * MINUTE;
  assert.equal(await current(), "svct1.1", "meanwhile the other one comes");
  await turns();
  assert.equal(await current(), "svct1.2");
  assert.equal(at.made, 2);
});

Deno.test("a token that cannot be renewed is used to its end", async () => {
  const { at, current } = await start(600);
  await current();
  at.isDown = true;
  at.now += 9 * MINUTE;
  assert.equal(await current(), "svct1.1");
  await turns();
  at.now += MINUTE;
  await assert.rejects(current(), { name: "Unanswered" });
  at.isDown = false;
  assert.equal(await current(), "svct1.2");
});

Deno.test("after a computer slept, and after a refusal, a new one is asked for first", async () => {
  const { at, current, bearers } = await start();
  await current();
  at.now += 120 * MINUTE;
  assert.equal(await current(), "svct1.2");
  bearers.forget();
  assert.equal(await current(), "svct1.3");
});

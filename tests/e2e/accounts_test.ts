import assert from "node:assert/strict";
import { makeDelegateKey } from "../../src/client/mod.ts";
import { type Env, Installation } from "../crash/installation.ts";
import { makeIdentity, send, sign } from "../crash/wire.ts";
import { poll } from "../within.ts";

const SETTINGS: Env = { SVC_EMBEDDER: "memory" };

async function account(installation: Installation, ...args: string[]) {
  const { code, output, errors } = await installation.run(["account", ...args, "--json"]);
  assert.equal(code, 0, errors);
  return JSON.parse(output);
}

Deno.test("keys are added and removed while the relayer runs, and count within 2 s", async () => {
  await using installation = await Installation.create(SETTINGS);
  const first = await makeDelegateKey();
  const created = await account(installation, "create", "--public-key", first.publicKey);
  assert.equal(created.public_key, first.publicKey);
  assert.equal(created.private_key, undefined);

  await using relayer = await installation.start();
  const second = await makeDelegateKey();
  const keys = [first, second];
  const [one, two] = await Promise.all(
    keys.map((key) => makeIdentity(key.privateKey, created.account_id)),
  );
  const ask = async (identity: typeof one) => {
    const request = await sign(identity!, { route: "GET /api/account" });
    const { status, body } = await send(relayer.url, request);
    return status === 200 ? "accepted" : body.code;
  };
  assert.equal(await ask(one), "accepted");
  // Refused once, so that the refusal is remembered.
  assert.equal(await ask(two), "account_not_authorized");
  await account(installation, "add-key", "--public-key", second.publicKey);
  await poll(() => ask(two), (answer) => answer === "accepted", 2000);

  await account(installation, "remove-key", "--public-key", first.publicKey);
  await poll(() => ask(one), (answer) => answer === "account_not_authorized", 2000);
  assert.equal(await ask(two), "accepted");

  const third = await makeDelegateKey();
  const other = await account(installation, "create", "--public-key", third.publicKey);
  const three = await makeIdentity(third.privateKey, other.account_id);
  await poll(() => ask(three), (answer) => answer === "accepted", 2000);
  assert.equal(await relayer.stop(), 0);

  await using restarted = await installation.start();
  const request = await sign(two!, { route: "GET /api/account" });
  assert.equal((await send(restarted.url, request)).status, 200);
  const late = await send(restarted.url, await sign(one!, { route: "GET /api/account" }));
  assert.deepEqual([late.status, late.body.code], [401, "account_not_authorized"]);
});

import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import assert from "node:assert/strict";
import { sealCipher } from "../../../../plugins/sui/seal/mod.ts";
import type { Cipher } from "../../../../src/interfaces/mod.ts";
import { startRelayer, type TestKey, type TestRelayer } from "../../../relayer_fixture.ts";
import { KeysForTests } from "../../sealer_for_tests.ts";
import { keypair, type SealTestNetwork, startNetwork } from "./network.ts";
import { poll } from "../../../within.ts";

const OWNER = keypair(3);

interface Running extends AsyncDisposable {
  readonly network: SealTestNetwork;
  readonly svc: TestRelayer;
  readonly cipher: Cipher;
  /** Lists keys on chain as delegates that may read. */
  allow(keys: readonly TestKey[], generation?: number): void;
}

/** A relayer whose accounts stand on chain too. */
async function start(): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const network = stack.use(await startNetwork({ timeoutMs: 3000 }));
  const cipher = sealCipher({ ...network.options, keys: new KeysForTests() });
  const svc = stack.use(await startRelayer({ backends: { cipher } }));
  const allow = (keys: readonly TestKey[], generation = 1) => {
    const delegates = keys.map(({ seed }) => ({ key: Ed25519Keypair.fromSecretKey(seed) }));
    network.setAccount(svc.account.accountId, { owner: OWNER, delegates, generation });
    cipher.accountChanged?.(svc.account.accountId);
  };
  allow([svc.key]);
  const moved = stack.move();
  return { network, svc, cipher, allow, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Waits for something that happens in the background. */
async function until(happened: () => boolean | Promise<boolean>): Promise<void> {
  await poll(happened, Boolean);
}

const credentialOf = ({ seed }: TestKey) => ({ headers: { "x-delegate-key": seed.toHex() } });

Deno.test("memories are sealed without a credential and recalled with one", async () => {
  await using running = await start();
  const { svc, allow } = running;
  await svc.remember("tea with honey");
  const recall = (options = {}) => svc.post("/api/recall", { query: "tea" }, options);
  const refusal = async (options = {}) => {
    const { status, body } = await recall(options);
    return [status, body.code];
  };
  assert.deepEqual(await refusal(), [400, "decrypt_credential_required"]);
  const { body } = await recall(credentialOf(svc.key));
  assert.equal(body.results[0].text, "tea with honey");

  const second = await svc.addKey(["read", "write"]);
  const signed = { key: second, ...credentialOf(second) };
  assert.deepEqual(await refusal(signed), [400, "decrypt_credential_invalid"]);
  allow([svc.key, second]);
  assert.equal((await recall(signed)).body.results.length, 1);
  allow([svc.key], 2);
  assert.deepEqual(await refusal(signed), [400, "decrypt_credential_invalid"]);
  await svc.remember("tea in the morning");
  assert.equal((await recall(credentialOf(svc.key))).body.results.length, 2);
});

Deno.test("key servers that are gone are a 503 that passes, and stand in /health", async () => {
  await using running = await start();
  const { svc, cipher, network: { parts: { faults } } } = running;
  await svc.remember("tea with honey");
  const recall = () => svc.post("/api/recall", { query: "tea" }, credentialOf(svc.key));
  const keyService = async () => (await svc.plain("GET", "/health")).body.dependencies.key_service;
  assert.deepEqual(await keyService(), { status: "ok" });
  cipher.accountChanged?.();
  for (const index of [0, 1]) faults.set(`keyServer:${index}`, { kind: "status", status: 500 });
  const { status, body, headers } = await recall();
  assert.deepEqual([status, body.code], [503, "key_service_unavailable"]);
  assert.ok(Number(headers.get("retry-after")) >= 1);
  svc.clock.advance(1_001);
  assert.notEqual((await keyService()).status, "ok");
  faults.clear();
  const again = await recall();
  assert.equal(again.body.results?.[0]?.text, "tea with honey");
});

Deno.test("a chain that is down keeps memories waiting, and loses none", async () => {
  await using running = await start();
  const { svc, cipher, network } = running;
  const { faults } = network.parts;
  await svc.remember("what opens the namespace");
  const before = network.parts.calls.all.get("chain") ?? 0;
  faults.set("chain", { kind: "down" });
  cipher.accountChanged?.();
  const { status, body } = await svc.post("/api/remember", { text: "tea with honey" });
  assert.equal(status, 202);
  // What nothing can be sealed for is not accepted: it would lie under the relayer key.
  const elsewhere = { text: "tea with milk", namespace: "elsewhere" };
  const refused = await svc.post("/api/remember", elsewhere);
  assert.deepEqual([refused.status, refused.body.code], [503, "chain_unavailable"]);
  const asked = () => (network.parts.calls.all.get("chain") ?? 0) > before;
  const state = async () => (await svc.get(`/api/remember/${body.job_id}`)).body.status;
  await until(asked);
  assert.notEqual(await state(), "failed");
  faults.clear();
  await until(async () => await state() === "done");
  const recalled = await svc.recall("tea", { limit: 1 }, credentialOf(svc.key));
  assert.deepEqual(recalled, ["tea with honey"]);
  assert.equal((await svc.post("/api/remember", elsewhere)).status, 202);
});

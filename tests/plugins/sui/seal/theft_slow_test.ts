import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import assert from "node:assert/strict";
import { mock } from "node:test";
import { sealCipher } from "../../../../plugins/sui/seal/mod.ts";
import { local } from "../../../../plugins/local/mod.ts";
import { memoryEmbedder } from "../../../../plugins/memory/embedder.ts";
import { createLogger } from "../../../../src/log.ts";
import { createRelayer } from "../../../../src/relayer.ts";
import { RelayerKey } from "../../../../src/sealing/relayer_key.ts";
import { TestClock, TestKey, TestRelayer } from "../../../relayer_fixture.ts";
import { ciphertexts, formsOf, piecesOf, standing } from "../../../memory/erasure_canary.ts";
import { verifies } from "../../../requirements.ts";
import { poll } from "../../../within.ts";
import { folderForTests } from "../../sealer_for_tests.ts";
import { keypair, type SealTestNetwork, startNetwork } from "./network.ts";

const MINUTE_MS = 60_000;
const OWNER = keypair(3).toSuiAddress();

/** What lies on one machine. */
interface Machine {
  readonly network: SealTestNetwork;
  readonly dataDir: string;
  readonly relayerKey: Uint8Array<ArrayBuffer>;
}

/** A relayer on a machine, with embedded files and keys that key servers wrap. */
async function open({ network, dataDir, relayerKey }: Machine, logs: string[], key: TestKey) {
  const logger = createLogger({ level: "debug", format: "json", write: (line) => logs.push(line) });
  const clock = new TestClock();
  const relayer = await createRelayer({
    now: clock.now,
    dataDir,
    relayerKey,
    logger,
    backends: [
      local(),
      {
        embedder: memoryEmbedder(),
        cipher: ({ keys }) => sealCipher({ ...network.options, keys }),
      },
    ],
  });
  const { admin } = relayer.backends.accounts;
  const account = await admin!.ofOwner(OWNER) ?? await admin!.create(OWNER);
  await admin!.addKey(account.accountId, {
    publicKey: key.publicKey,
    label: "test",
    permissions: ["read", "write"],
  });
  return new TestRelayer(relayer, relayer.backends, clock, key, account);
}

const credentialOf = ({ seed }: TestKey) => ({ headers: { "x-delegate-key": seed.toHex() } });

/** What a thief takes along. */
async function copyOf(dataDir: string): Promise<{ path: string } & AsyncDisposable> {
  const copy = await folderForTests();
  for await (const { name, isFile } of Deno.readDir(dataDir)) {
    if (isFile) await Deno.copyFile(`${dataDir}/${name}`, `${copy.path}/${name}`);
  }
  return copy;
}

/** Which of these a relayer key opens, whatever they were sealed for and bound to. */
function opened(relayerKey: Uint8Array<ArrayBuffer>, all: readonly Uint8Array[], ids: string[]) {
  const key = new RelayerKey(relayerKey);
  const purposes = ["payload", "step", "ledger", "cipher", "plugin local-cipher", "plugin cipher"];
  const bound = ["", ...ids, ...ids.map((id) => `step ${id}`)];
  return all.filter((bytes) =>
    purposes.some((purpose) =>
      bound.some((to) => {
        try {
          return key.sealer(purpose).open(bytes, to).length >= 0;
        } catch {
          return false;
        }
      })
    )
  );
}

Deno.test("data, relayer key and logs open no memory that key servers guard", async () => {
  verifies("15-35");
  const texts = Array.from({ length: 3 }, (_, i) => `canary ${i} ${crypto.randomUUID()} of tea`);
  const logs: string[] = [];
  await using network = await startNetwork({ timeoutMs: 3000 });
  await using folder = await folderForTests();
  const relayerKey = crypto.getRandomValues(new Uint8Array(32));
  const owner = new TestKey();
  mock.timers.enable({ apis: ["setInterval"] });
  using _ = { [Symbol.dispose]: () => mock.timers.reset() };
  const svc = await open({ network, dataDir: folder.path, relayerKey }, logs, owner);
  await using _svc = svc;
  const { accountId } = svc.account;
  network.setAccount(accountId, {
    owner: keypair(3),
    delegates: [{ key: Ed25519Keypair.fromSecretKey(owner.seed) }],
  });

  // A text waits under the relayer key alone while nothing can be sealed: it is what a thief gets.
  network.parts.faults.set("chain", { kind: "down" });
  svc.backends.cipher.accountChanged?.();
  const ids: string[] = [];
  for (const text of texts) ids.push((await svc.post("/api/remember", { text })).body.job_id);
  const waiting = ciphertexts(folder.path);
  assert.equal(opened(relayerKey, waiting, ids).length, texts.length);
  network.parts.faults.clear();
  for (const id of ids) {
    await poll(async () => (await svc.get(`/api/remember/${id}`)).body.status, (s) => s === "done");
  }
  waiting.push(
    ...ciphertexts(folder.path).filter((bytes) => opened(relayerKey, [bytes], ids).length),
  );
  const recall = { query: "tea", limit: 10 };
  const { body } = await svc.post("/api/recall", recall, credentialOf(owner));
  assert.equal(body.results.length, texts.length);

  // A minute later it does not stand in a file any more, and what does, opens for nobody.
  mock.timers.tick(MINUTE_MS);
  await poll(() => standing(folder.path, piecesOf(waiting)), (found) => found.length === 0);
  await using copy = await copyOf(folder.path);
  assert.deepEqual(opened(relayerKey, ciphertexts(copy.path), ids), []);
  const secrets = [...texts, owner.seed.toHex()].flatMap(formsOf);
  assert.deepEqual(await standing(copy.path, secrets), []);
  for (const secret of [...texts, owner.seed.toHex()]) assert.ok(!logs.join().includes(secret));

  // With a relayer of their own on the copy, where they let themselves in.
  const thief = new TestKey();
  await using stolen = await open({ network, dataDir: copy.path, relayerKey }, [], thief);
  assert.equal(stolen.account.accountId, accountId);
  // After a crash nothing is taken that may have been taken before.
  stolen.clock.advance(MINUTE_MS);
  const asked = credentialOf(thief);
  const answers = [
    await stolen.post("/api/recall", recall),
    await stolen.post("/api/recall", recall, asked),
    await stolen.get(`/api/memories/${ids[0]}`, asked),
  ];
  for (const { status, text } of answers) {
    assert.ok(status >= 400, text);
    for (const canary of texts) assert.ok(!text.includes(canary));
  }
  assert.deepEqual(answers.map(({ body }) => body.code), [
    "decrypt_credential_required",
    "decrypt_credential_invalid",
    "decrypt_credential_invalid",
  ]);
  const before = network.keyRequests();
  const records = ciphertexts(copy.path);
  const scope = { accountId, owner: svc.account.owner, namespace: "default" };
  const items = records.map((record, i) => ({ memoryId: ids[i % ids.length]!, record }));
  const credential = { delegateKey: thief.seed.toHex() };
  const directly = await stolen.backends.cipher.open(items, { ...scope, credential })
    .catch((error) => [{ status: "rejected", reason: error }]);
  assert.ok(directly.every(({ status }) => status === "rejected"));
  assert.equal(network.keyRequests(), before, "the chain refused them first");
});

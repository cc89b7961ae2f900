import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import assert from "node:assert/strict";
import { sealCipher } from "../../../../plugins/sui/seal/mod.ts";
import { local } from "../../../../plugins/local/mod.ts";
import { memoryEmbedder } from "../../../../plugins/memory/embedder.ts";
import { createLogger } from "../../../../src/log.ts";
import { createRelayer } from "../../../../src/relayer.ts";
import { RelayerKey } from "../../../../src/sealing/relayer_key.ts";
import { TestClock, TestKey, TestRelayer } from "../../../relayer_fixture.ts";
import { ciphertexts, formsOf, standing } from "../../../memory/erasure_canary.ts";
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
  if (!account.keys.some(({ publicKey }) => publicKey === key.publicKey)) {
    await admin!.addKey(account.accountId, {
      publicKey: key.publicKey,
      label: "test",
      permissions: ["read", "write"],
    });
  }
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
  const svc = await open({ network, dataDir: folder.path, relayerKey }, logs, owner);
  await using _svc = svc;
  const { accountId } = svc.account;
  network.setAccount(accountId, {
    owner: keypair(3),
    delegates: [{ key: Ed25519Keypair.fromSecretKey(owner.seed) }],
  });

  // While nothing can be sealed texts wait in the files, in RAM, and for nobody who has the files.
  await svc.remember("what gives the namespace its key");
  network.parts.faults.set("chain", { kind: "down" });
  svc.backends.cipher.accountChanged?.();
  const ids: string[] = [];
  for (const text of texts) ids.push((await svc.post("/api/remember", { text })).body.job_id);
  await using early = await copyOf(folder.path);
  assert.deepEqual(opened(relayerKey, ciphertexts(early.path), ids), []);
  network.parts.faults.clear();
  for (const id of ids) {
    await poll(async () => (await svc.get(`/api/remember/${id}`)).body.status, (s) => s === "done");
  }
  const recall = { query: "tea", limit: 10 };

  // On what a crash at that moment leaves they wait for the owner, whoever else comes.
  {
    const stranger = new TestKey();
    await using left = await open({ network, dataDir: early.path, relayerKey }, [], stranger);
    left.clock.advance(MINUTE_MS);
    const { body } = await left.post("/api/recall", recall, credentialOf(stranger));
    assert.equal(body.code, "decrypt_credential_invalid");
    for (const id of ids) {
      assert.equal((await left.get(`/api/remember/${id}`)).body.waits_for, "credential");
    }
  }
  assert.deepEqual(opened(relayerKey, ciphertexts(early.path), ids), []);
  await using revived = await open({ network, dataDir: early.path, relayerKey }, [], owner);
  revived.clock.advance(2 * MINUTE_MS);
  const found = await revived.post("/api/recall", recall, credentialOf(owner));
  const foundTexts = found.body.results.map(({ text }: { text: string }) => text);
  for (const text of texts) assert.ok(foundTexts.includes(text));
  const { body } = await svc.post("/api/recall", recall, credentialOf(owner));
  const recalled = body.results.map(({ text }: { text: string }) => text);
  for (const text of texts) assert.ok(recalled.includes(text));
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

import { SessionKey } from "@mysten/seal";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import assert from "node:assert/strict";
import { SealCipher } from "../../../../plugins/sui/seal/cipher.ts";
import { WorkerCalls } from "../../../../plugins/sui/seal/worker_calls.ts";
import type { KeyWorkOptions } from "../../../../plugins/sui/seal/calls.ts";
import type { SvcError } from "../../../../src/errors.ts";
import type {
  Cipher,
  DecryptCredential,
  SealContext,
  Sealed,
} from "../../../../src/interfaces/mod.ts";
import { cipherSuite, conform } from "../../../../testing/mod.ts";
import { KeysForTests } from "../../sealer_for_tests.ts";
import { withCredential } from "./fake_work.ts";
import { KeptThreads } from "./kept_threads.ts";
import { delegateKeyOf, keypair, type SealTestNetwork, startNetwork } from "./network.ts";

const ACCOUNT = "0x" + "1".repeat(64);
const OTHER = "0x" + "2".repeat(64);
const OWNER = 7;
const DELEGATE = 8;
const STRANGER = 9;
const TEXT = new TextEncoder().encode("I moved to Lisbon");
const CONTEXT: SealContext = {
  accountId: ACCOUNT,
  owner: keypair(OWNER).toSuiAddress(),
  namespace: "notes",
  memoryId: "m",
};
const owner = delegateKeyOf(OWNER);
const opened = [{ status: "fulfilled", value: TEXT }];

async function start(options?: Parameters<typeof startNetwork>[0]): Promise<SealTestNetwork> {
  const network = await startNetwork(options);
  network.setAccount(ACCOUNT, { owner: keypair(OWNER), delegates: [{ key: keypair(DELEGATE) }] });
  network.setAccount(OTHER, { owner: keypair(STRANGER) });
  return network;
}

function open(
  cipher: Cipher,
  sealed: Sealed,
  credential: DecryptCredential = owner,
  context: Partial<SealContext> = {},
): Promise<PromiseSettledResult<Uint8Array>[]> {
  return cipher.open([{ memoryId: "m", ...sealed }], { ...CONTEXT, ...context, credential });
}

let threads: KeptThreads;
Deno.test.beforeAll(() => void (threads = new KeptThreads(2)));
Deno.test.afterAll(() => threads[Symbol.dispose]());

/** A cipher that knows no keys yet, as `sealCipher` makes it. */
function fresh(options: KeyWorkOptions): Cipher {
  const work = new WorkerCalls(options, { spawn: threads.spawn });
  return new SealCipher({ keys: new KeysForTests(), work, servers: options });
}

/** Seals with a cipher that is closed then. */
async function sealedBy(options: KeyWorkOptions, context = CONTEXT): Promise<Sealed> {
  await using cipher = fresh(options);
  return await cipher.seal(TEXT, context);
}

function codeOf([result]: PromiseSettledResult<Uint8Array>[]): string | undefined {
  return result?.status === "rejected" ? (result.reason as SvcError).code : undefined;
}

conform(cipherSuite, "seal, key servers", async () => {
  const network = await startNetwork();
  for (const id of [ACCOUNT, OTHER]) network.setAccount(id, { owner: keypair(OWNER) });
  const cipher = withCredential(fresh(network.options), owner);
  const dispose = cipher[Symbol.asyncDispose].bind(cipher);
  cipher[Symbol.asyncDispose] = async () => {
    await dispose();
    await network[Symbol.asyncDispose]();
  };
  return cipher;
});

Deno.test("owner and delegates open on a fresh machine, strangers and foreign accounts do not", async () => {
  await using network = await start();
  const sealed = await sealedBy(network.options);
  for (const seed of [OWNER, DELEGATE]) {
    await using cipher = fresh(network.options);
    assert.deepEqual(await open(cipher, sealed, delegateKeyOf(seed)), opened);
    assert.deepEqual(
      await open(cipher, sealed, { delegateKey: keypair(seed).getSecretKey() }),
      opened,
    );
  }
  await using cipher = fresh(network.options);
  const invalid = { code: "decrypt_credential_invalid", status: 400 };
  const stranger = delegateKeyOf(STRANGER);
  await assert.rejects(open(cipher, sealed, stranger), invalid);
  assert.deepEqual(await open(cipher, sealed), opened);
  await assert.rejects(open(cipher, sealed, stranger), invalid);
  const foreign = await open(cipher, sealed, stranger, { accountId: OTHER });
  assert.equal(codeOf(foreign), "storage_unavailable");
  await assert.rejects(open(cipher, sealed, { delegateKey: "suiprivkey1qqqq" }), invalid);
});

Deno.test("a removed delegate is refused, and new keys are of the new generation", async () => {
  await using network = await start();
  await using cipher = fresh(network.options);
  const sealed = await cipher.seal(TEXT, CONTEXT);
  const delegate = delegateKeyOf(DELEGATE);
  assert.deepEqual(await open(cipher, sealed, delegate), opened);
  network.setAccount(ACCOUNT, { owner: keypair(OWNER), generation: 2 });
  cipher.accountChanged?.(ACCOUNT);
  await assert.rejects(open(cipher, sealed, delegate), { code: "decrypt_credential_invalid" });
  const next = await cipher.seal(TEXT, CONTEXT);
  cipher.accountChanged?.();
  const items = [sealed, next].map((one) => ({ memoryId: "m", ...one }));
  const results = await cipher.open(items, { ...CONTEXT, credential: owner });
  assert.deepEqual(results, [...opened, ...opened]);
  assert.equal(network.keyRequests() <= 3, true, "both generations in one request a server");
});

Deno.test("delegates without READ and expired ones open nothing", async () => {
  await using network = await start();
  const sealed = await sealedBy(network.options);
  const key = keypair(DELEGATE);
  for (const delegate of [{ key, permissions: 2 }, { key, expiresAt: Date.now() - 1 }]) {
    network.setAccount(ACCOUNT, { owner: keypair(OWNER), delegates: [delegate] });
    await using cipher = fresh(network.options);
    await assert.rejects(open(cipher, sealed, delegateKeyOf(DELEGATE)), {
      code: "decrypt_credential_invalid",
    });
  }
  assert.equal(network.keyRequests(), 0);
});

/** `x-seal-session` of a key pair. */
async function sessionOf(
  { options: { rpcUrl, packageId } }: SealTestNetwork,
  seed: number,
  change: Record<string, unknown> = {},
  made: { readonly mvrName?: string } = {},
): Promise<DecryptCredential> {
  const key = await SessionKey.create({
    address: keypair(seed).toSuiAddress(),
    packageId,
    ttlMin: 10,
    signer: keypair(seed),
    suiClient: new SuiGrpcClient({ network: "localnet", baseUrl: rpcUrl }),
    ...made,
  });
  await key.getCertificate();
  const text = JSON.stringify({ ...key.export(), ...change });
  return { session: new TextEncoder().encode(text).toBase64() };
}

Deno.test("a session opens what its address may read, and wins over a key", async () => {
  await using network = await start();
  const sealed = await sealedBy(network.options);
  await using cipher = fresh(network.options);
  const session = await sessionOf(network, DELEGATE);
  const wrong = { ...session, ...delegateKeyOf(STRANGER) };
  assert.deepEqual(await open(cipher, sealed, wrong), opened);
});

Deno.test("sessions that are malformed, old, forged or for another package are refused", async () => {
  await using network = await start();
  const sealed = await sealedBy(network.options);
  await using cipher = fresh(network.options);
  assert.deepEqual(await open(cipher, sealed), opened);
  const asked = network.keyRequests();
  const other = JSON.parse(atob((await sessionOf(network, STRANGER)).session!));
  const sessions: DecryptCredential[] = [
    { session: "AAAA" },
    { session: btoa("null") },
    { session: btoa(JSON.stringify({ address: 1 })) },
    await sessionOf(network, OWNER, { creationTimeMs: Date.now() - 11 * 60_000 }),
    await sessionOf(network, OWNER, { creationTimeMs: Date.now() + 5 * 60_000 }),
    await sessionOf(network, OWNER, { ttlMin: 20 }),
    await sessionOf(network, OWNER, { ttlMin: 1000 }),
    await sessionOf(network, OWNER, { packageId: network.sealPackage }),
    // Its owner signed it for another application.
    await sessionOf(network, OWNER, {}, { mvrName: "@elsewhere/notes" }),
    await sessionOf(network, OWNER, { sessionKey: other.sessionKey }),
    await sessionOf(network, OWNER, { sessionKey: "suiprivkey1" }),
    await sessionOf(network, OWNER, {
      personalMessageSignature: other.personalMessageSignature,
    }),
    await sessionOf(network, STRANGER, { address: keypair(OWNER).toSuiAddress() }),
  ];
  for (const [index, session] of sessions.entries()) {
    await assert.rejects(
      open(cipher, sealed, session),
      { code: "decrypt_credential_invalid", status: 400 },
      `session ${index}`,
    );
  }
  assert.equal(network.keyRequests(), asked, "no key server was asked");
});

Deno.test("changed servers: what was sealed for the old ones still opens", async () => {
  await using network = await startNetwork({ servers: 4 });
  network.setAccount(ACCOUNT, { owner: keypair(OWNER) });
  const { servers } = network.options;
  const before = await sealedBy({ ...network.options, servers: servers.slice(0, 3) });
  const retired = servers.slice(0, 3).map((server) => ({ ...server, weight: 0 }));
  for (const old of [[], retired]) {
    const options = { ...network.options, servers: [...old, servers[3]!], threshold: 1 };
    await using cipher = fresh(options);
    assert.deepEqual(await open(cipher, before), opened);
    const after = await cipher.seal(TEXT, CONTEXT);
    assert.equal(after.wrappedKey[21 + 35], 1, "the new threshold");
    assert.deepEqual(await open(cipher, after), opened);
  }
});

Deno.test("weights, an API key, and a committee behind an aggregator", async () => {
  await using network = await start({ servers: 2, committee: { parties: 5, threshold: 3 } });
  const servers = network.options.servers.map((server, index) => ({
    ...server,
    weight: index,
    ...(server.aggregatorUrl === undefined ? {} : { apiKeyName: "x-api-key", apiKey: "secret" }),
  }));
  const options = { ...network.options, servers, threshold: 3 };
  const sealed = await sealedBy(options);
  await using cipher = fresh(options);
  assert.deepEqual(await open(cipher, sealed), opened);
  assert.deepEqual([...network.apiKeys], [
    ["keyServer:1", new Set([null])],
    ["keyServer:2", new Set(["secret"])],
  ]);
});

Deno.test("one of three key servers may be down, hang, fail or lie", async () => {
  await using network = await start();
  const { faults } = network.parts;
  for (
    const fault of [
      { kind: "down" },
      { kind: "hang" },
      { kind: "status", status: 500 },
      { kind: "status", status: 302 },
      { kind: "wrong" },
    ] as const
  ) {
    faults.set("keyServer:1", fault);
    const sealed = await sealedBy(network.options);
    await using cipher = fresh(network.options);
    assert.deepEqual(await open(cipher, sealed), opened, fault.kind);
  }
  // Lies only after it proved its key.
  faults.clear();
  const sealed = await sealedBy(network.options);
  await using cipher = fresh(network.options);
  await cipher.seal(TEXT, CONTEXT);
  for (const server of ["keyServer:0", "keyServer:2"]) {
    faults.set(server, { kind: "wrong" });
    assert.deepEqual(await open(cipher, sealed), opened);
    faults.clear();
    cipher.accountChanged?.();
  }
});

Deno.test("two of three key servers gone: 503 in time, and it recovers by itself", async () => {
  await using network = await start({ timeoutMs: 3000 });
  const { faults } = network.parts;
  const sealed = await sealedBy(network.options);
  for (const kind of ["down", "hang", "wrong"] as const) {
    const clock = { now: Date.now() };
    await using cipher = new SealCipher({
      keys: new KeysForTests(),
      work: new WorkerCalls(network.options, { spawn: threads.spawn }),
      servers: network.options,
      now: () => clock.now,
    });
    // Their keys are proved; they fail later.
    const other = await cipher.seal(TEXT, { ...CONTEXT, namespace: "other" });
    for (const index of [0, 2]) faults.set(`keyServer:${index}`, { kind });
    const results = await cipher.open(
      [{ memoryId: "m", ...sealed }, { memoryId: "m", ...other }],
      { ...CONTEXT, credential: owner },
    );
    assert.equal(codeOf(results), "key_service_unavailable", kind);
    assert.equal(cipher.health?.()?.status, "degraded");
    assert.deepEqual(await open(cipher, other, owner, { namespace: "other" }), opened);
    faults.clear();
    assert.deepEqual(await open(cipher, sealed), opened);
    assert.deepEqual(cipher.health?.(), { status: "ok" });
  }
});

Deno.test("nothing is sealed for servers of which too few prove their keys", async () => {
  await using network = await start();
  const { faults } = network.parts;
  for (const kind of ["down", "wrong"] as const) {
    for (const index of [0, 2]) faults.set(`keyServer:${index}`, { kind });
    await using cipher = fresh(network.options);
    const down = { code: "key_service_unavailable", retryable: true };
    await assert.rejects(cipher.seal(TEXT, CONTEXT), down);
    faults.clear();
    if (kind === "down") await cipher.seal(TEXT, CONTEXT);
  }
});

Deno.test("servers that went down after they proved their keys hinder no sealing", async () => {
  await using network = await start();
  await using cipher = fresh(network.options);
  await cipher.seal(TEXT, CONTEXT);
  for (const index of [0, 1, 2]) network.parts.faults.set(`keyServer:${index}`, { kind: "down" });
  const sealed = await cipher.seal(TEXT, { ...CONTEXT, namespace: "other" });
  assert.deepEqual(await open(cipher, sealed, owner, { namespace: "other" }), opened);
});

Deno.test("a chain that is down fails what may be tried again", async () => {
  await using network = await start();
  const sealed = await sealedBy(network.options);
  network.parts.faults.set("chain", { kind: "down" });
  await using cipher = fresh(network.options);
  const down = { code: "chain_unavailable", retryable: true };
  await assert.rejects(cipher.seal(TEXT, CONTEXT), down);
  await assert.rejects(open(cipher, sealed), down);
  network.parts.faults.clear();
  assert.deepEqual(await open(cipher, sealed), opened);
});

Deno.test("a chain that lies makes nothing that cannot be opened, and fails for now only", async () => {
  await using network = await start();
  const { faults } = network.parts;
  const sealed = await sealedBy(network.options);
  await using cipher = fresh(network.options);
  faults.set("chain", { kind: "wrong" });
  const outcomes = await Promise.allSettled([
    cipher.seal(TEXT, CONTEXT),
    open(cipher, sealed),
    sealedBy(network.options),
  ]);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, "rejected");
    assert.ok(outcome.reason.retryable, outcome.reason.message);
    assert.ok(["chain_unavailable", "key_service_unavailable"].includes(outcome.reason.code));
  }
  faults.clear();
  assert.deepEqual(await open(cipher, sealed), opened);
  // A node that lies about a server later is not asked about it.
  faults.set("chain", { kind: "wrong" });
  const after = await cipher.seal(TEXT, { ...CONTEXT, namespace: "later" });
  faults.clear();
  await using other = fresh(network.options);
  assert.deepEqual(await open(other, after, owner, { namespace: "later" }), opened);
});

Deno.test("addresses that are not those on chain are named by their setting", async () => {
  await using network = await start();
  const servers = network.options.servers.map((server) => ({
    ...server,
    url: "http://127.0.0.1:9",
  }));
  await using cipher = fresh({ ...network.options, servers });
  await assert.rejects(
    cipher.seal(TEXT, CONTEXT),
    (error: SvcError) =>
      error.code === "key_service_unavailable" && error.message.includes("SVC_SEAL_SERVER_CONFIGS"),
  );
  const committee = network.options.servers.map(({ objectId, weight, url }) => ({
    objectId,
    weight,
    aggregatorUrl: url!,
  }));
  await using other = fresh({ ...network.options, servers: committee });
  await assert.rejects(other.seal(TEXT, CONTEXT), { message: /SVC_SEAL_SERVER_CONFIGS/ });
});

Deno.test("an object of another type at an account's id is no account", async () => {
  await using network = await start();
  const { chain } = network.parts;
  const account = chain.object(ACCOUNT)!;
  const { bcs, owner: shared } = account;
  chain.put({
    id: ACCOUNT,
    type: `${network.sealPackage}::account::SvcAccount`,
    owner: shared,
    bcs,
  });
  await using cipher = fresh(network.options);
  await assert.rejects(cipher.seal(TEXT, CONTEXT), { code: "chain_unavailable" });
});

Deno.test("a worker that dies is replaced", async () => {
  await using network = await start();
  const sealed = await sealedBy(network.options);
  let spawned = 0;
  const broken = "data:text/javascript,onmessage = () => { throw new Error('out of memory'); };";
  const work = new WorkerCalls(network.options, {
    spawn: () =>
      new Worker(
        spawned++ === 0
          ? broken
          : new URL("../../../../plugins/sui/seal/worker.ts", import.meta.url).href,
        { type: "module" },
      ),
  });
  await using cipher = new SealCipher({
    keys: new KeysForTests(),
    work,
    servers: network.options,
  });
  const down = { code: "key_service_unavailable", retryable: true };
  await assert.rejects(open(cipher, sealed), down);
  assert.deepEqual(await open(cipher, sealed), opened);
  assert.equal(spawned, 2);
});

import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import {
  ExpiredSessionKeyError,
  GeneralError,
  InternalError,
  InvalidKeyServerError,
  InvalidPackageError,
  InvalidParameterError,
  InvalidPTBError,
  NoAccessError,
  SealClient,
  SessionKey,
} from "@mysten/seal";
import { installSeal, type SealNetwork, type SealOptions } from "../../devnet/seal/install.ts";
import { Abort } from "../../devnet/sui/failure.ts";
import { parsePure } from "../../devnet/sui/value.ts";
import { type PartsFixture, startParts } from "./parts_fixture.ts";

const PACKAGE = `0x${"11".repeat(32)}`;
const ID = "0102030405";
const PLAIN = new TextEncoder().encode("I live in Lisbon.");

interface Fixture extends AsyncDisposable {
  readonly parts: PartsFixture;
  readonly seal: SealNetwork;
  /** Addresses that the policy lets read. */
  readonly readers: Set<string>;
  /** A new client of some servers; all when absent. */
  client(options?: { servers?: readonly number[]; verify?: boolean; timeout?: number }): SealClient;
  session(key: Ed25519Keypair, ttlMin?: number): Promise<SessionKey>;
}

async function start(options: SealOptions = {}): Promise<Fixture> {
  const parts = startParts();
  const seal = await installSeal(parts, options);
  const readers = new Set<string>();
  parts.chain.publish(PACKAGE);
  parts.chain.fn(`${PACKAGE}::policy::seal_approve`, (tx, [id]) => {
    parsePure(bcs.byteVector(), id);
    if (!readers.has(tx.sender)) throw new Abort(100, `${PACKAGE}::policy::seal_approve`);
  });
  const suiClient = parts.client();
  return {
    parts,
    seal,
    readers,
    client: ({ servers, verify = false, timeout = 5_000 } = {}) =>
      new SealClient({
        suiClient,
        serverConfigs: seal.keyServers.filter((_, index) => servers?.includes(index) ?? true)
          .map(({ objectId, url, isCommittee }) => ({
            objectId,
            weight: 1,
            ...(isCommittee ? { aggregatorUrl: url } : {}),
          })),
        verifyKeyServers: verify,
        timeout,
      }),
    session: (signer, ttlMin = 10) =>
      SessionKey.create({
        address: signer.toSuiAddress(),
        packageId: PACKAGE,
        ttlMin,
        signer,
        suiClient,
      }),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

const user = () => Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(2));

/** Kind bytes of policy calls. */
async function approval(
  fixture: Fixture,
  edit: (tx: Transaction) => void = (tx) => call(tx),
): Promise<Uint8Array> {
  const tx = new Transaction();
  edit(tx);
  return await tx.build({ client: fixture.parts.client(), onlyTransactionKind: true });
}

const call = (tx: Transaction, target = `${PACKAGE}::policy::seal_approve`, id = ID) =>
  tx.moveCall({ target, arguments: [tx.pure.vector("u8", Uint8Array.fromHex(id))] });

async function encrypt(client: SealClient, threshold = 2, id = ID): Promise<Uint8Array> {
  const { encryptedObject } = await client.encrypt({
    threshold,
    packageId: PACKAGE,
    id,
    data: PLAIN,
  });
  return encryptedObject;
}

Deno.test("2 of 3 servers decrypt for whom the policy lets", async () => {
  await using fixture = await start();
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client({ verify: true }));
  const txBytes = await approval(fixture);
  const sessionKey = await fixture.session(key);
  const request = { data, sessionKey, txBytes, checkShareConsistency: true };
  deepStrictEqual(await fixture.client({ verify: true }).decrypt(request), PLAIN);
  fixture.parts.faults.set("keyServer:1", { kind: "down" });
  deepStrictEqual(await fixture.client().decrypt(request), PLAIN);
  fixture.parts.faults.set("keyServer:2", { kind: "status", status: 503 });
  await rejects(fixture.client().decrypt(request));
});

Deno.test("who lost access gets no key", async () => {
  await using fixture = await start();
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client());
  const txBytes = await approval(fixture);
  const sessionKey = await fixture.session(key);
  deepStrictEqual(await fixture.client().decrypt({ data, sessionKey, txBytes }), PLAIN);
  fixture.readers.clear();
  await rejects(fixture.client().decrypt({ data, sessionKey, txBytes }), NoAccessError);
});

Deno.test("errors of the servers are those of the SDK", async () => {
  await using fixture = await start();
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client());
  const sessionKey = await fixture.session(key);
  const decrypt = async (txBytes: Uint8Array) =>
    await fixture.client().decrypt({ data, sessionKey, txBytes });
  const other = `0x${"12".repeat(32)}`;
  fixture.parts.chain.publish(other);
  for (
    const edit of [
      (tx: Transaction) => call(tx, `${PACKAGE}::policy::approve`),
      (tx: Transaction) => {
        call(tx);
        call(tx, `${other}::policy::seal_approve`);
      },
      (tx: Transaction) => tx.moveCall({ target: `${PACKAGE}::policy::seal_approve` }),
      (tx: Transaction) => {
        for (let n = 0; n < 101; n++) call(tx);
      },
      (tx: Transaction) => {
        call(tx);
        tx.splitCoins(tx.gas, [1]);
      },
      (tx: Transaction) =>
        tx.moveCall({
          target: `${PACKAGE}::policy::seal_approve`,
          arguments: [tx.sharedObjectRef({
            objectId: "0x6",
            initialSharedVersion: 1,
            mutable: false,
          })],
        }),
    ]
  ) {
    await rejects(decrypt(await approval(fixture, edit)), InvalidPTBError);
  }
  const absent = await approval(fixture, (tx) => {
    tx.moveCall({
      target: `${PACKAGE}::policy::seal_approve`,
      arguments: [
        tx.pure.vector("u8", Uint8Array.fromHex(ID)),
        tx.sharedObjectRef({ objectId: "0x77", initialSharedVersion: 1, mutable: false }),
      ],
    });
  });
  await rejects(decrypt(absent), InvalidParameterError);
  const foreign = await approval(fixture, (tx) => {
    call(tx, `0x${"13".repeat(32)}::policy::seal_approve`);
  });
  await rejects(decrypt(foreign), (error) => error instanceof Error);
  const txBytes = await approval(fixture);
  for (const { server } of fixture.seal.keyServers) server.staleness = 121_000;
  await rejects(decrypt(txBytes), InternalError);
  for (const { server } of fixture.seal.keyServers) server.staleness = 0;
  fixture.parts.faults.set("chain", { kind: "down", only: "never" });
  await rejects(fixture.client().decrypt({ data, sessionKey, txBytes }), InternalError);
  fixture.parts.faults.set("chain", undefined);
  for (const n of [0, 1, 2]) {
    fixture.parts.faults.set(`keyServer:${n}`, { kind: "status", status: 500 });
  }
  await rejects(decrypt(txBytes), GeneralError);
  ok(InvalidPackageError);
});

Deno.test("a session ends by the server's clock", async () => {
  let now = Date.now();
  await using fixture = await start({ now: () => now });
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client());
  const txBytes = await approval(fixture);
  const sessionKey = await fixture.session(key, 30);
  now += 29 * 60_000;
  deepStrictEqual(await fixture.client().decrypt({ data, sessionKey, txBytes }), PLAIN);
  now += 2 * 60_000;
  await rejects(fixture.client().decrypt({ data, sessionKey, txBytes }), ExpiredSessionKeyError);
});

Deno.test("a server that lies is found out: its proof and its keys are not its own", async () => {
  await using fixture = await start();
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client());
  const txBytes = await approval(fixture);
  const sessionKey = await fixture.session(key);
  fixture.parts.faults.set("keyServer:0", { kind: "wrong" });
  await rejects(fixture.client({ verify: true }).getKeyServers(), InvalidKeyServerError);
  deepStrictEqual(await fixture.client().decrypt({ data, sessionKey, txBytes }), PLAIN);
  fixture.parts.faults.set("keyServer:1", { kind: "wrong" });
  await rejects(fixture.client().decrypt({ data, sessionKey, txBytes }));
});

Deno.test("a server that hangs costs the client its timeout at most", async () => {
  await using fixture = await start();
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client());
  const txBytes = await approval(fixture);
  const sessionKey = await fixture.session(key);
  fixture.parts.faults.set("keyServer:0", { kind: "hang" });
  deepStrictEqual(await fixture.client().decrypt({ data, sessionKey, txBytes }), PLAIN);
  fixture.parts.faults.set("keyServer:1", { kind: "hang" });
  await rejects(fixture.client({ timeout: 50 }).decrypt({ data, sessionKey, txBytes }));
});

Deno.test("a committee behind an aggregator is one server", async () => {
  await using fixture = await start({ servers: 1, committee: { parties: 5, threshold: 3 } });
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const data = await encrypt(fixture.client({ verify: true }), 2);
  const txBytes = await approval(fixture);
  const sessionKey = await fixture.session(key);
  const request = { data, sessionKey, txBytes, checkShareConsistency: true };
  deepStrictEqual(await fixture.client().decrypt(request), PLAIN);
  strictEqual(fixture.seal.keyServers[1]?.isCommittee, true);
});

Deno.test("several identities in one request", async () => {
  await using fixture = await start();
  const key = user();
  fixture.readers.add(key.toSuiAddress());
  const ids = ["0a", "0b"];
  const client = fixture.client();
  const objects = await Promise.all(ids.map((id) => encrypt(client, 2, id)));
  const txBytes = await approval(fixture, (tx) => {
    for (const id of ids) call(tx, undefined, id);
  });
  const sessionKey = await fixture.session(key);
  const reader = fixture.client();
  await reader.fetchKeys({ ids, txBytes, sessionKey, threshold: 2 });
  for (const data of objects) {
    deepStrictEqual(await reader.decrypt({ data, sessionKey, txBytes }), PLAIN);
  }
});

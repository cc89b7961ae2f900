import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import {
  ABORT,
  type AbortName,
  acceptOwnership,
  addDelegateKey,
  ArgumentError,
  callEntry,
  closeAccount,
  createAccount,
  decodeAccount,
  encodeAccount,
  encodeEvent,
  ENTRY_FUNCTIONS,
  type EntryArgument,
  EVENTS,
  migrateAccount,
  MoveAbort,
  offerOwnership,
  sealApprove,
} from "../../contracts/mirror.ts";
import { parseAccount, sealIdentity } from "../../plugins/sui/chain/account_object.ts";
import { MemoryWorld } from "./memory_world.ts";
import { TestKey } from "./test_key.ts";
import { KEYS } from "./vectors.ts";

const OWNER = "0x" + "0a".repeat(32);
const OTHER = "0x" + "0b".repeat(32);
const PACKAGE = "0x" + "5c".repeat(32);
const KEY = new TestKey(1);

function aborts(name: AbortName, entry: string, call: () => void): void {
  throws(call, (thrown) => {
    if (!(thrown instanceof MoveAbort)) throw thrown;
    deepStrictEqual([thrown.code, thrown.location], [ABORT[name], `account::${entry}`]);
    return true;
  });
}

function withKey(): { world: MemoryWorld; id: string } {
  const world = new MemoryWorld().as(OWNER, 1000n);
  const id = createAccount(world);
  const { bytes: publicKey } = KEY;
  const proof = KEY.proof(id);
  addDelegateKey(world, id, { publicKey, proof, permissions: 3, expiresAt: 2000n, label: "Mac" });
  return { world, id };
}

Deno.test("an account is on chain what the plugins read", () => {
  const { world, id } = withKey();
  const content = encodeAccount(world.account(id));
  deepStrictEqual(decodeAccount(content), world.account(id));
  deepStrictEqual(parseAccount(content), {
    accountId: id,
    owner: OWNER,
    active: true,
    generation: 1,
    version: 2,
    keys: [{
      publicKey: KEY.hex,
      address: KEY.address,
      label: "Mac",
      permissions: ["read", "write"],
      createdAt: 1000,
      expiresAt: 2000,
    }],
  });
  offerOwnership(world, id, OTHER);
  strictEqual(decodeAccount(encodeAccount(world.account(id))).pendingOwner, OTHER);
  for (const event of world.events) {
    const fields = EVENTS[event.name].parse(encodeEvent(event));
    strictEqual(fields.account_id, id);
  }
});

Deno.test("an expired key makes room, and its own return is possible", () => {
  const { world, id } = withKey();
  const { bytes: publicKey } = KEY;
  const proof = KEY.proof(id);
  const again = { publicKey, proof, permissions: 1, expiresAt: 0n, label: "" };
  aborts("EKeyTaken", "add_delegate_key", () => addDelegateKey(world, id, again));
  addDelegateKey(world.as(OWNER, 2000n), id, again);
  const { delegateKeys, generation } = world.account(id);
  strictEqual(generation, 2n);
  deepStrictEqual(delegateKeys.map((key) => [key.permissions, key.sinceGeneration]), [[1, 2n]]);
  deepStrictEqual(world.events.map(({ name }) => name), [
    "AccountCreated",
    "KeyAdded",
    "KeyRemoved",
    "KeyAdded",
  ]);
});

Deno.test("an account has at most 20 keys that have not expired", () => {
  const world = new MemoryWorld().as(OWNER, 10n);
  const id = createAccount(world);
  const add = (key: TestKey, expiresAt: bigint) => {
    const { bytes: publicKey } = key;
    const proof = key.proof(id);
    addDelegateKey(world, id, { publicKey, proof, permissions: 3, expiresAt, label: "" });
  };
  KEYS.slice(0, 20).forEach((key, i) => add(key, i % 2 === 0 ? 11n : 0n));
  aborts("ETooMany", "add_delegate_key", () => add(KEYS[20]!, 0n));
  world.now = 11n;
  add(KEYS[20]!, 0n);
  strictEqual(world.account(id).delegateKeys.length, 11);
});

Deno.test("a transferred account is the new owner's alone", () => {
  const owner = new TestKey(7);
  const world = new MemoryWorld().as(owner.address, 5n);
  const id = createAccount(world);
  const { bytes: publicKey } = owner;
  const proof = owner.proof(id);
  addDelegateKey(world, id, { publicKey, proof, permissions: 3, expiresAt: 0n, label: "" });
  offerOwnership(world, id, OTHER);
  acceptOwnership(world.as(OTHER), id);
  deepStrictEqual(world.account(id).delegateKeys, []);
  deepStrictEqual([...world.index], [[`owner ${OTHER}`, id]]);
  sealApprove(world, id, sealIdentity(id, 2, new Uint8Array(32)));
  aborts(
    "ENoAccess",
    "seal_approve",
    () => sealApprove(world.as(owner.address), id, sealIdentity(id, 1, new Uint8Array(32))),
  );
  createAccount(world);
});

Deno.test("a closed account leaves nothing", () => {
  const { world, id } = withKey();
  aborts("EVersion", "migrate_account", () => migrateAccount(world, id));
  closeAccount(world, id);
  deepStrictEqual([world.accounts.size, world.index.size], [0, 0]);
});

Deno.test("calls of a transaction are decoded, and refused when they do not fit", () => {
  const world = new MemoryWorld().as(OWNER, 1000n);
  const registry = { object: { id: "0x5e", type: `${PACKAGE}::account::Registry` } };
  const clock = { object: { id: "0x6", type: "0x2::clock::Clock" } };
  callEntry(PACKAGE, "create_account", world, [registry, clock]);
  const id = [...world.accounts.keys()][0]!;
  const account = { object: { id, type: `${PACKAGE}::account::SvcAccount` } };
  const bytes = (value: Uint8Array) => ({
    pure: bcs.byteVector().serialize(value).toBytes(),
  });
  const key = [registry, account, bytes(KEY.bytes), bytes(KEY.proof(id))];
  const rest = [
    { pure: bcs.u8().serialize(1).toBytes() },
    { pure: bcs.u64().serialize(0).toBytes() },
    { pure: bcs.string().serialize("Möbel").toBytes() },
    clock,
  ];
  callEntry(PACKAGE, "add_delegate_key", world, [...key, ...rest]);
  strictEqual(world.account(id).delegateKeys[0]?.label, "Möbel");
  const identity = bytes(sealIdentity(id, 1, new Uint8Array(32)));
  callEntry(PACKAGE, "seal_approve", world.as(KEY.address), [identity, account, clock]);

  const refused = (name: string, args: readonly EntryArgument[], index: number, kind: string) =>
    throws(() => callEntry(PACKAGE, name, world, args), (thrown) => {
      if (!(thrown instanceof ArgumentError)) throw thrown;
      deepStrictEqual([thrown.index, thrown.kind], [index, kind]);
      return true;
    });
  const foreign = { object: { id, type: `0x${"66".repeat(32)}::account::SvcAccount` } };
  refused("seal_approve", [identity, foreign, clock], 1, "TypeMismatch");
  refused("seal_approve", [identity, account], 2, "ArityMismatch");
  refused("nothing", [], 0, "ArityMismatch");
  const long = { pure: new Uint8Array([...identity.pure, 0]) };
  refused("seal_approve", [long, account, clock], 0, "InvalidBcsBytes");
  const text = { pure: new Uint8Array([1, 0xff]) };
  const bad = [...key, rest[0]!, rest[1]!, text, clock];
  refused("add_delegate_key", bad, 6, "InvalidBcsBytes");
  strictEqual(Object.keys(ENTRY_FUNCTIONS).length, 13);
});

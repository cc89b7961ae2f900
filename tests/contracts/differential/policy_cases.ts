import {
  type AccountState,
  type DelegateKeyState,
  sealApprove,
  sealApproveNamespace,
  VERSION,
  type World,
} from "../../../contracts/mirror.ts";
import { sealIdentity } from "../../../plugins/sui/chain/account_object.ts";
import { scopeHash } from "../../../plugins/sui/seal/keys/wrapped_key.ts";
import { hexList } from "./scene_world.ts";
import { MemoryWorld } from "../memory_world.ts";
import { KEYS, scenarioId } from "../vectors.ts";
import { type Case, codeOf } from "./cases.ts";
import type { Random } from "./random.ts";

const ID = scenarioId(1);
const OWNER = "0x" + "0a".repeat(32);
const STRANGER = "0x" + "0c".repeat(32);
const LISTABLE = KEYS.slice(0, 5);
const LARGEST = 2n ** 64n - 1n;
const NAMES = ["work", "notes/", "a/b/", "é", "/"];
const NAMESPACES = ["work", "work2", "wor", "notes/", "notes/é", "notes", "a/b/c", "é", "/", ""];
const TEXT = new TextEncoder();

function randomAccount(random: Random): AccountState {
  const delegateKeys: DelegateKeyState[] = random.some(LISTABLE, 5).map((key) => ({
    publicKey: key.hex,
    address: key.address,
    label: "",
    permissions: random.below(4),
    createdAt: 0n,
    expiresAt: random.once(2) ? 0n : random.once(10) ? LARGEST : BigInt(random.below(100)),
    sinceGeneration: 1n,
    namespaces: random.once(2) ? [] : random.shuffled(NAMES).slice(0, 1 + random.below(3)),
  }));
  const generation = random.once(10)
    ? random.pick([LARGEST, 2n ** 32n, 256n])
    : BigInt(1 + random.below(4));
  return {
    id: ID,
    version: random.once(12) ? random.pick([0n, VERSION + 1n]) : VERSION,
    // Who owns the account may also be the holder of a key that may not read.
    owner: random.once(4) ? random.pick(LISTABLE).address : OWNER,
    pendingOwner: undefined,
    delegateKeys,
    createdAt: 0n,
    active: !random.once(8),
    generation,
  };
}

function randomGeneration(random: Random, { generation }: AccountState): bigint {
  if (random.once(2)) return generation;
  const others = [0n, 1n, 2n, 3n, 4n, 255n, generation + 1n, generation - 1n, LARGEST, 2n ** 56n];
  return BigInt.asUintN(64, random.pick(others));
}

function randomIdentity(random: Random, account: AccountState, scope: Uint8Array): Uint8Array {
  const number = randomGeneration(random, account);
  const id = sealIdentity(account.id, 0, scope);
  new DataView(id.buffer).setBigUint64(32, number);
  switch (random.below(10)) {
    case 0: // Another account's.
      id.set(Uint8Array.fromHex(scenarioId(2).slice(2)));
      return id;
    case 1: { // One byte of the account's id differs.
      const at = random.below(32);
      id[at] = id[at]! ^ (1 << random.below(8));
      return id;
    }
    case 2:
      return id.slice(0, random.below(72));
    case 3:
      return new Uint8Array([...id, ...random.bytes(1 + random.below(80))]);
    default:
      return id;
  }
}

/** A time, often one at which a key expires or has a moment left. */
function randomTime(random: Random, { delegateKeys }: AccountState): bigint {
  const ends = delegateKeys.map((key) => key.expiresAt).filter((end) => end > 0n);
  const end = ends.length === 0 || random.once(3) ? BigInt(random.below(100)) : random.pick(ends);
  return end > 0n && random.once(2) ? end - 1n : end;
}

/** A call of the policy, which names a namespace in every second case, mostly the right one. */
function randomCall(random: Random, account: AccountState, caller: string) {
  const scope = { owner: random.pick(["", OWNER, "ä"]), namespace: random.pick(NAMESPACES) };
  const identity = randomIdentity(random, account, scopeHash(scope));
  const start = `(@${caller}, first(), x"${identity.toHex()}"`;
  if (random.once(3)) {
    return {
      run: (world: World) => sealApprove(world, ID, identity),
      move: `s.approve${start});`,
    };
  }
  const said = random.once(8) ? { ...scope, namespace: random.pick(NAMESPACES) } : scope;
  const owner = TEXT.encode(random.once(15) ? "you" : said.owner);
  const namespace = TEXT.encode(said.namespace);
  return {
    run: (world: World) => sealApproveNamespace(world, ID, identity, { owner, namespace }),
    move: `s.approve_namespace${start}, x"${owner.toHex()}", x"${namespace.toHex()}");`,
  };
}

/** Random requests for keys: account, caller, time, identity and what is said of it. */
export function policyCases(random: Random, count: number): Case[] {
  return Array.from({ length: count }, (_, i) => {
    const account = randomAccount(random);
    const listed = account.delegateKeys.map(({ address }) => address);
    const caller = random.pick([account.owner, STRANGER, ...listed, ...listed, KEYS[5]!.address]);
    const now = randomTime(random, account);
    const call = randomCall(random, account, caller);
    const world = new MemoryWorld().as(caller, now);
    world.putAccount(account);
    const code = codeOf(() => call.run(world));
    const keys = account.delegateKeys.map((key) =>
      `s.list_bound(first(), x"${key.publicKey}", ${key.permissions}, ${key.expiresAt}, ` +
      `${hexList(key.namespaces)});`
    );
    const body = [
      "let mut s = scene::begin();",
      `s.create(@${account.owner});`,
      ...keys,
      account.active ? "" : `s.deactivate(@${account.owner}, first());`,
      `s.set_generation(first(), ${account.generation});`,
      `s.set_versions(first(), ${VERSION}, ${account.version});`,
      `s.at(${now});`,
      call.move,
      code === 0 ? "s.end()" : "abort 0",
    ];
    return { name: `policy_${i}`, code, body: body.join(" ") };
  });
}

import {
  acceptOwnership,
  addBoundKey,
  addDelegateKey,
  closeAccount,
  createAccount,
  deactivateAccount,
  migrateAccount,
  offerOwnership,
  reactivateAccount,
  removeDelegateKey,
  VERSION,
  withdrawOffer,
} from "../../../contracts/mirror.ts";
import { KEYS, scenarioId } from "../vectors.ts";
import { type Case, codeOf } from "./cases.ts";
import type { Random } from "./random.ts";
import { eventBytes, hex, hexList, SceneWorld, stateChecks } from "./scene_world.ts";

const KEYS_USED = KEYS.slice(0, 5);
/** Most owners' own keys may be listed as delegates, too. */
const OWNERS = [...KEYS_USED.slice(0, 3).map(({ address }) => address), "0x" + "0a".repeat(32)];
const LOW_ORDER = Uint8Array.fromHex("ec" + "ff".repeat(30) + "7f");

/** One call: what the mirror does, and the same as a Move statement. */
interface Step {
  run(): void;
  readonly move: string;
}

function addStep(random: Random, world: SceneWorld, id: string): Step {
  const own = KEYS_USED.find(({ address }) => address === world.sender);
  const key = own !== undefined && random.once(4) ? own : random.pick(KEYS_USED);
  const permissions = random.once(12) ? random.pick([0, 4, 255]) : 1 + random.below(3);
  const expiresAt = random.once(2) ? 0n : world.now + BigInt(random.below(12)) - 1n;
  const label = "ä".repeat(random.once(12) ? 33 : random.below(33));
  const proofs = [key.proof(scenarioId(99)), random.bytes(64), random.bytes(63)];
  const right = random.once(4) ? key.cofactoredProof(id) : key.proof(id);
  const proof = random.once(10) ? random.pick(proofs) : right;
  const publicKey = random.once(15)
    ? random.pick([LOW_ORDER, key.bytes.slice(1), new Uint8Array()])
    : key.bytes;
  const end = expiresAt < 0n ? 0n : expiresAt;
  if (random.once(3)) {
    const namespaces = random.once(8) ? [] : random.some(["work", "notes/", "é"], 3);
    const added = { publicKey, proof, permissions, expiresAt: end, label, namespaces };
    return {
      run: () => addBoundKey(world, id, added),
      move: `s.add_bound(@${world.sender}, @${id}, ${hex(publicKey)}, ${hex(proof)}, ` +
        `${permissions}, ${end}, ${hex(new TextEncoder().encode(label))}, ${hexList(namespaces)});`,
    };
  }
  return {
    run: () => addDelegateKey(world, id, { publicKey, proof, permissions, expiresAt: end, label }),
    move: `s.add(@${world.sender}, @${id}, ${hex(publicKey)}, ${hex(proof)}, ${permissions}, ` +
      `${end}, ${hex(new TextEncoder().encode(label))});`,
  };
}

/** Gives registry and account other versions, or the right ones again. */
function versionStep(random: Random, world: SceneWorld, id: string): Step {
  const isStale = world.registryVersion !== VERSION || world.account(id).version !== VERSION;
  const registry = isStale ? VERSION : random.pick([VERSION, VERSION, VERSION + 1n]);
  const version = isStale ? VERSION : random.pick([0n, VERSION, VERSION + 1n]);
  const run = () => {
    world.registryVersion = registry;
    world.putAccount({ ...world.account(id), version });
  };
  return { run, move: `s.set_versions(@${id}, ${registry}, ${version});` };
}

/** How often each call is made, in parts of the sum. */
const WEIGHTS = {
  add: 36,
  remove: 14,
  deactivate: 4,
  reactivate: 6,
  offer: 12,
  withdraw: 3,
  accept: 14,
  create: 8,
  close: 2,
  migrate: 2,
  versions: 3,
};
const CALLS = Object.entries(WEIGHTS).flatMap(([name, weight]) =>
  Array.from({ length: weight }, () => name as keyof typeof WEIGHTS)
);

/** A random call of an entry function. */
function randomStep(random: Random, world: SceneWorld): Step {
  const ids = [...world.accounts.keys()];
  const name = ids.length === 0 ? "create" : random.pick(CALLS);
  if (name === "create") {
    world.as(random.pick(OWNERS));
    return { run: () => void createAccount(world), move: `s.create(@${world.sender});` };
  }
  const id = random.pick(ids);
  const { owner, pendingOwner, delegateKeys, version } = world.account(id);
  world.as(random.once(10) ? random.pick(OWNERS) : owner);
  // Nothing else works with other versions, so they must not stay for long.
  const isStale = world.registryVersion !== VERSION || version !== VERSION;
  if (isStale && random.once(2)) return versionStep(random, world, id);
  const call = (...more: readonly string[]) =>
    `s.${name}(${[`@${world.sender}`, `@${id}`, ...more].join(", ")});`;
  switch (name) {
    case "remove": {
      const listed = delegateKeys.length === 0 || random.once(5)
        ? random.pick(KEYS_USED).bytes
        : Uint8Array.fromHex(random.pick(delegateKeys).publicKey);
      return { run: () => removeDelegateKey(world, id, listed), move: call(hex(listed)) };
    }
    case "deactivate":
      return { run: () => deactivateAccount(world, id), move: call() };
    case "reactivate":
      return { run: () => reactivateAccount(world, id), move: call() };
    case "offer": {
      const free = OWNERS.filter((owner) => !world.index.has(`owner ${owner}`));
      const to = free.length === 0 || random.once(5) ? random.pick(OWNERS) : random.pick(free);
      return { run: () => offerOwnership(world, id, to), move: call(`@${to}`) };
    }
    case "withdraw":
      return { run: () => withdrawOffer(world, id), move: call() };
    case "accept":
      if (!random.once(5)) world.as(pendingOwner ?? world.sender);
      return { run: () => acceptOwnership(world, id), move: call() };
    case "close":
      return { run: () => closeAccount(world, id), move: call() };
    case "migrate":
      return { run: () => migrateAccount(world, id), move: call() };
    case "versions":
      return versionStep(random, world, id);
    case "add":
      return addStep(random, world, id);
  }
}

/**
 * Random sequences of calls. Those the mirror refuses become cases of their own, after the calls
 * before them; the others are replayed together, and events, accounts and index compared.
 *
 * @returns the cases, and the functions that they call.
 */
export function sequenceCases(
  random: Random,
  count: number,
  length: number,
): { readonly cases: Case[]; readonly functions: string } {
  const cases: Case[] = [];
  const functions: string[] = [];
  for (let n = 0; n < count; n++) {
    const world = new SceneWorld();
    const done: string[] = [];
    for (let i = 0; i < length; i++) {
      world.now += BigInt(random.below(8));
      const from = world.events.length;
      const step = randomStep(random, world);
      const code = codeOf(step.run);
      const statement = `s.at(${world.now}); ${step.move}`;
      if (code === 0) {
        const events = `assert!(account::event_bytes() == x"${eventBytes(world, from)}", 1003);`;
        functions.push(`fun call_${n}_${done.length}(s: &mut Scene) { ${statement} ${events} }\n`);
        done.push(`call_${n}_${done.length}(&mut s);`);
        world.transaction++;
      } else {
        const body = ["let mut s = scene::begin();", ...done, statement, "abort 0"].join(" ");
        cases.push({ name: `refused_${n}_${i}`, code, body });
      }
    }
    const checks = stateChecks(world, OWNERS, KEYS_USED.map(({ bytes }) => bytes));
    const body = ["let mut s = scene::begin();", ...done, ...checks, "s.end()"];
    cases.push({ name: `sequence_${n}`, code: 0, body: body.join(" ") });
  }
  return { cases, functions: functions.join("") };
}

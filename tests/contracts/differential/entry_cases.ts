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
import { edgeSignatures, LOW_ORDER } from "./edge_signatures.ts";
import type { Random } from "./random.ts";
import { eventBytes, hex, hexList, SceneWorld, stateChecks } from "./scene_world.ts";

const FIRST = scenarioId(1);
const SECOND = scenarioId(2);
const STRANGER = "0x" + "0c".repeat(32);
/** Owner of the first account, of the second, and somebody without one; all have a key of their own. */
const PEOPLE = [KEYS[0]!.address, KEYS[1]!.address, KEYS[2]!.address] as const;
const OWNERS = [...PEOPLE, STRANGER];
const LARGEST = 2n ** 64n - 1n;

/** A world and the Move statements that made it. */
class Stage {
  readonly world = new SceneWorld();
  readonly done: string[] = [];

  /** Runs a call in the mirror, and notes the same for the Move VM. */
  do(move: string, run: () => void): void {
    run();
    this.done.push(move);
    this.world.transaction++;
  }

  at(ms: bigint): void {
    this.world.now = ms;
    this.done.push(`s.at(${ms});`);
  }

  create(owner: string): void {
    this.do(`s.create(@${owner});`, () => void createAccount(this.world.as(owner)));
  }

  /** Lists a key without any check. */
  list(id: string, key: typeof KEYS[number], permissions: number, expiresAt: bigint): void {
    const { world } = this;
    this.do(`s.list(@${id}, ${hex(key.bytes)}, ${permissions}, ${expiresAt});`, () => {
      const account = world.account(id);
      world.indexSet({ kind: "key", publicKey: key.hex }, id);
      world.putAccount({
        ...account,
        delegateKeys: [...account.delegateKeys, {
          publicKey: key.hex,
          address: key.address,
          label: "",
          permissions,
          createdAt: 0n,
          expiresAt,
          sinceGeneration: account.generation,
          namespaces: [],
        }],
      });
    });
  }
}

/** Two accounts in some state: keys, expired ones too, an offer, versions, a generation. */
function randomStage(random: Random): Stage {
  const stage = new Stage();
  const { world } = stage;
  const [owner, other, third] = PEOPLE;
  stage.at(BigInt(random.below(5)));
  stage.create(owner);
  stage.create(other);
  const most = random.once(3) ? 20 : 5;
  const least = most === 20 ? 19 + random.below(2) : random.below(6);
  for (const key of random.shuffled(KEYS.slice(0, 20)).slice(0, least)) {
    const expiresAt = random.once(most === 20 ? 60 : 2) ? BigInt(5 + random.below(10)) : 0n;
    const ends = random.once(12) ? LARGEST : expiresAt;
    stage.list(random.once(most === 20 ? 60 : 2) ? SECOND : FIRST, key, 1 + random.below(3), ends);
  }
  if (!random.once(3)) {
    const to = random.pick([third, STRANGER]);
    stage.do(`s.offer(@${owner}, @${FIRST}, @${to});`, () => {
      offerOwnership(world.as(owner), FIRST, to);
    });
    if (random.once(4)) stage.create(to);
  }
  if (random.once(8)) {
    stage.do(`s.deactivate(@${owner}, @${FIRST});`, () => {
      deactivateAccount(world.as(owner), FIRST);
    });
  }
  if (random.once(5)) {
    // The last that leaves room for what a call adds.
    const generation = random.pick([255n, 2n ** 32n, LARGEST - 2n]);
    stage.do(`s.set_generation(@${FIRST}, ${generation});`, () => {
      world.putAccount({ ...world.account(FIRST), generation });
    });
  }
  if (random.once(8)) {
    const registry = random.pick([0n, VERSION, VERSION, VERSION + 1n]);
    const version = random.pick([0n, VERSION, VERSION + 1n]);
    stage.do(`s.set_versions(@${FIRST}, ${registry}, ${version});`, () => {
      world.registryVersion = registry;
      world.putAccount({ ...world.account(FIRST), version });
    });
  }
  stage.at(BigInt(random.pick([4, 5, 9, 10, 14, 15, 30])));
  return stage;
}

interface Call {
  readonly move: string;
  run(): void;
}

/** Each argument may be wrong, whatever the others are: that shows the order of the checks. */
function addCall(random: Random, { world }: Stage): Call {
  const key = random.once(2) ? random.pick(KEYS) : KEYS[20]!;
  const permissions = random.once(8) ? random.pick([0, 4, 255]) : 1 + random.below(3);
  const bound = world.now + BigInt(random.below(3)) - 1n;
  const expiresAt = random.pick([0n, 0n, 0n, LARGEST, bound, bound, 1n]);
  const label = "ä".repeat(32) + (random.once(6) ? "b" : "");
  const proofs = [key.proof(SECOND), random.bytes(64), random.bytes(65), new Uint8Array()];
  const proof = random.once(5) ? random.pick(proofs) : key.proof(FIRST);
  const bad = [
    random.pick(LOW_ORDER),
    key.bytes.slice(1),
    new Uint8Array([...key.bytes, 0]),
    new Uint8Array(),
  ];
  const publicKey = random.once(8) ? random.pick(bad) : key.bytes;
  const args = [publicKey, proof].map(hex).join(", ");
  if (random.once(2)) {
    const bad = [[], ["a", ""], ["x".repeat(257)], Array(33).fill("a")];
    const namespaces = random.pick(random.once(6) ? bad : [["work"], ["n/", "é"]]);
    const key = { publicKey, proof, permissions, expiresAt, label, namespaces };
    return {
      run: () => addBoundKey(world, FIRST, key),
      move: `s.add_bound(@${world.sender}, @${FIRST}, ${args}, ${permissions}, ${expiresAt}, ` +
        `${hex(new TextEncoder().encode(label))}, ${hexList(namespaces)});`,
    };
  }
  return {
    run: () => addDelegateKey(world, FIRST, { publicKey, proof, permissions, expiresAt, label }),
    move: `s.add(@${world.sender}, @${FIRST}, ${args}, ${permissions}, ${expiresAt}, ` +
      `${hex(new TextEncoder().encode(label))});`,
  };
}

function randomCall(random: Random, stage: Stage): Call {
  const { world } = stage;
  const { owner, pendingOwner, delegateKeys } = world.account(FIRST);
  world.as(random.once(6) ? random.pick(OWNERS) : owner);
  const call = (name: string, ...more: readonly string[]) =>
    `s.${name}(${[`@${world.sender}`, `@${FIRST}`, ...more].join(", ")});`;
  switch (
    random.pick(["add", "add", "add", "add", "accept", "accept", "remove", "offer", "more"])
  ) {
    case "add":
      return addCall(random, stage);
    case "accept":
      if (!random.once(4)) world.as(pendingOwner ?? STRANGER);
      return { run: () => acceptOwnership(world, FIRST), move: call("accept") };
    case "remove": {
      const listed = delegateKeys.map(({ publicKey }) => Uint8Array.fromHex(publicKey));
      const gone = random.pick([...listed, ...listed, KEYS[20]!.bytes, KEYS[3]!.bytes]);
      const publicKey = random.once(8) ? gone.slice(1) : gone;
      return {
        run: () => removeDelegateKey(world, FIRST, publicKey),
        move: call("remove", hex(publicKey)),
      };
    }
    case "offer": {
      const to = random.pick(OWNERS);
      return { run: () => offerOwnership(world, FIRST, to), move: call("offer", `@${to}`) };
    }
  }
  switch (random.pick(["create", "deactivate", "reactivate", "withdraw", "close", "migrate"])) {
    case "create":
      world.as(random.pick(OWNERS));
      return { run: () => void createAccount(world), move: `s.create(@${world.sender});` };
    case "deactivate":
      return { run: () => deactivateAccount(world, FIRST), move: call("deactivate") };
    case "reactivate":
      return { run: () => reactivateAccount(world, FIRST), move: call("reactivate") };
    case "withdraw":
      return { run: () => withdrawOffer(world, FIRST), move: call("withdraw") };
    case "migrate":
      return { run: () => migrateAccount(world, FIRST), move: call("migrate") };
    default:
      return { run: () => closeAccount(world, FIRST), move: call("close") };
  }
}

function caseOf(name: string, stage: Stage, { move, run }: Call, keys: Uint8Array[]): Case {
  const { done, world } = stage;
  const from = world.events.length;
  const code = codeOf(run);
  const checks = code === 0
    ? [
      `assert!(account::event_bytes() == x"${eventBytes(world, from)}", 1003);`,
      ...stateChecks(world, OWNERS, keys),
      "s.end()",
    ]
    : ["abort 0"];
  return { name, code, body: ["let mut s = scene::begin();", ...done, move, ...checks].join(" ") };
}

/** One call each, on random accounts, in which any number of things may be wrong at once. */
export function entryCases(random: Random, count: number): Case[] {
  return Array.from({ length: count }, (_, i) => {
    const stage = randomStage(random);
    return caseOf(`entry_${i}`, stage, randomCall(random, stage), KEYS.map(({ bytes }) => bytes));
  });
}

/** Odd keys and proofs, one a case. */
export function signatureCases(): Case[] {
  return edgeSignatures(FIRST).map(({ publicKey, proof }, i) => {
    const stage = new Stage();
    stage.create(STRANGER);
    const key = { publicKey, proof, permissions: 1, expiresAt: 0n, label: "" };
    const call = {
      run: () => addDelegateKey(stage.world, FIRST, key),
      move: `s.add(@${STRANGER}, @${FIRST}, ${hex(publicKey)}, ${hex(proof)}, 1, 0, b"");`,
    };
    return caseOf(`signature_${i}`, stage, call, [publicKey]);
  });
}

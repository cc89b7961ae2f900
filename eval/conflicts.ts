import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { judgeConflict } from "../src/memory/links/conflict.ts";
import { documentVectors } from "../src/memory/vectors.ts";
import { print } from "./print.ts";
import { readQuerySet } from "./query_set.ts";
import { readUpdates, type Update, type UpdateSet } from "./updates.ts";

const HELP = `deno task eval conflicts [--held-out] [--items]

  Which statements are taken for contradictions when they are written, on tests/testdata/updates, and
  which facts that have nothing to do with each other, on tests/testdata/writes.
  --held-out   also the held-out parts: at checkpoints, not while tuning
  --items      what was proposed, and what was not, of the tuning parts
`;

/** Memories that are looked at: the nearest ones. */
const NEAREST = 8;

/** A link that a rule would make. */
interface Proposal {
  readonly older: string;
  readonly newer: string;
  readonly by: string;
}

/** How far rules were right. */
export interface Proposals {
  readonly right: readonly Proposal[];
  readonly wrong: readonly Proposal[];
  /** Changes that no rule saw. */
  readonly missed: readonly Proposal[];
}

/** Texts with vectors, each made once. */
class Vectors {
  readonly #embedder: Embedder;
  readonly #known = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  async of(text: string): Promise<Float32Array> {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const [vectors] = await documentVectors(this.#embedder, [text], undefined);
    this.#known.set(text, vectors![0]!);
    return vectors![0]!;
  }

  async cosine(a: string, b: string): Promise<number> {
    const [x, y] = [await this.of(a), await this.of(b)];
    return x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  }
}

/** What is proposed when a text is written beside others. */
async function proposalsFor(
  vectors: Vectors,
  newer: string,
  stored: readonly string[],
): Promise<Proposal[]> {
  const near: { readonly older: string; readonly cosine: number }[] = [];
  for (const older of stored) near.push({ older, cosine: await vectors.cosine(older, newer) });
  near.sort((a, b) => b.cosine - a.cosine);
  return near.slice(0, NEAREST).flatMap(({ older, cosine }) => {
    const found = judgeConflict(older, newer, cosine);
    return found === undefined ? [] : [{ older, newer, by: found.by }];
  });
}

/** Whether a later statement of an item says something else than an earlier one. */
function isChange({ kind, right }: Update, older: string, newer: string): boolean {
  // Where nothing is restated, each statement replaces those before it.
  return kind !== "restated" || (right.includes(newer) && !right.includes(older));
}

/** What is proposed for changes, each said among facts that nothing replaced. */
export async function measureChanges(
  embedder: Embedder,
  { updates, distractors }: UpdateSet,
): Promise<Proposals> {
  const vectors = new Vectors(embedder);
  const right: Proposal[] = [];
  const wrong: Proposal[] = [];
  const missed: Proposal[] = [];
  for (const update of updates) {
    const { statements } = update;
    for (const [i, newer] of statements.entries()) {
      const earlier = statements.slice(0, i);
      const found = await proposalsFor(vectors, newer, [...distractors, ...earlier]);
      for (const proposal of found) {
        const isRight = earlier.includes(proposal.older) &&
          isChange(update, proposal.older, newer);
        (isRight ? right : wrong).push(proposal);
      }
      const last = earlier.at(-1);
      if (last === undefined || !isChange(update, last, newer)) continue;
      if (!found.some(({ older }) => earlier.includes(older))) {
        missed.push({ older: last, newer, by: "none" });
      }
    }
  }
  return { right, wrong, missed };
}

/** What is proposed among facts that are all to be kept: every proposal is a wrong one. */
export async function measureFacts(
  embedder: Embedder,
  facts: readonly string[],
): Promise<Proposal[]> {
  const vectors = new Vectors(embedder);
  const wrong: Proposal[] = [];
  for (const [i, newer] of facts.entries()) {
    wrong.push(...await proposalsFor(vectors, newer, facts.slice(0, i)));
  }
  return wrong;
}

/** What is proposed for pairs of statements, each by itself. */
export async function measurePairs(embedder: Embedder, name: string): Promise<Proposals> {
  const url = new URL(`../tests/testdata/conflicts/${name}.json`, import.meta.url);
  const { changes, both_true }: Record<string, readonly [string, string][]> = JSON.parse(
    await Deno.readTextFile(url),
  );
  const vectors = new Vectors(embedder);
  const right: Proposal[] = [];
  const missed: Proposal[] = [];
  for (const [older, newer] of changes ?? []) {
    const found = await proposalsFor(vectors, newer, [older]);
    right.push(...found);
    if (found.length === 0) missed.push({ older, newer, by: "none" });
  }
  const wrong: Proposal[] = [];
  for (const [older, newer] of both_true ?? []) {
    wrong.push(...await proposalsFor(vectors, newer, [older]));
  }
  return { right, wrong, missed };
}

/** The facts of a store for retrieval, by their persons. */
export async function readStores(name: string): Promise<string[][]> {
  const { stores } = await readQuerySet(name, [name]);
  return stores.map(({ facts }) => facts.map(({ fact }) => fact));
}

/** The facts of a file of tests/testdata/writes. */
export async function readFacts(name: string): Promise<string[]> {
  const url = new URL(`../tests/testdata/writes/${name}.json`, import.meta.url);
  const { facts } = JSON.parse(await Deno.readTextFile(url));
  return facts.map(({ fact }: { readonly fact: string }) => fact);
}

function printItems(title: string, proposals: readonly Proposal[]): void {
  print(title, ...proposals.map(({ older, newer, by }) => `  ${by}: ${older} | ${newer}`));
}

/** Proposals by the rule that made them. */
function byRule(proposals: readonly Proposal[]): string {
  const counts = Map.groupBy(proposals, ({ by }) => by);
  return [...counts].map(([by, list]) => `${by} ${list.length}`).join(", ") || "none";
}

/** Prints what is proposed; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.some((arg) => !["--held-out", "--items"].includes(arg))) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
  for (const name of args.includes("--held-out") ? ["tuning", "held_out"] : ["tuning"]) {
    const pairs = await measurePairs(embedder, name);
    print(
      `Pairs, ${name}: ${pairs.right.length} links right (${
        byRule(pairs.right)
      }), ${pairs.wrong.length} wrong (${byRule(pairs.wrong)}), ${pairs.missed.length} not seen`,
    );
    const { right, wrong, missed } = await measureChanges(embedder, await readUpdates(name));
    const facts = await readFacts(name);
    const among = await measureFacts(embedder, facts);
    print(
      `Changes, ${name}: ${right.length} links right (${byRule(right)}), ${wrong.length} wrong (${
        byRule(wrong)
      }), ${missed.length} changes not seen`,
      `Facts, ${name}: ${among.length} links among ${facts.length} (${byRule(among)})`,
    );
    const stores = name === "tuning" ? ["personal", "development"] : ["held_out"];
    for (const store of stores) {
      const lists = await readStores(store);
      const found = [];
      for (const list of lists) found.push(...await measureFacts(embedder, list));
      print(`Facts, retrieval ${store}: ${found.length} links among ${lists.flat().length}`);
      if (args.includes("--items") && name === "tuning") printItems("Wrong:", found);
    }
    if (!args.includes("--items") || name !== "tuning") continue;
    printItems("Wrong:", [...pairs.wrong, ...wrong, ...among]);
    printItems("Not seen:", [...pairs.missed, ...missed]);
  }
  return 0;
}

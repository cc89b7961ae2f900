import { quality } from "../cli/memories/eval/ranks.ts";
import type { ContextWeights } from "../src/index/ranking.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { shuffled, uniform } from "../bench/statistics.ts";
import { type Conversation, readConversations, type Said } from "./conversation_set.ts";
import { ConversationScope, queriesOf, type Query } from "./conversations.ts";
import { print } from "./print.ts";
import { readQuerySet } from "./query_set.ts";

/** What is tried of each weight. */
const TRIED: Readonly<Record<keyof ContextWeights, readonly number[]>> = {
  question: [0.12, 0.24, 0.36],
  session: [0, 0.15, 0.3],
  asking: [0.25, 0.5, 0.75],
  words: [0, 0.02, 0.04],
};

/** Facts that have nothing to do with each other, put into sessions of so many. */
const TOGETHER = 6;
const KINDS = ["turns", "facts", "unrelated"] as const;
type Kind = typeof KINDS[number];

/** Ranks by the conversation of the question, for one kind of memories and one choice of weights. */
type RanksByName = ReadonlyMap<string, readonly number[]>;

function choices(): ContextWeights[] {
  const { question, session, asking, words } = TRIED;
  return question.flatMap((q) =>
    session.flatMap((s) =>
      asking.flatMap((a) => words.map((w) => ({ question: q, session: s, asking: a, words: w })))
    )
  );
}

/** Facts of the development queries, in sessions that were drawn. */
async function unrelated(): Promise<{ said: Said[]; queries: Query[] }[]> {
  const { stores } = await readQuerySet("", ["personal", "development"]);
  const random = uniform(1);
  return stores.map(({ facts }) => {
    const place = new Map(shuffled(facts, random).map((fact, i) => [fact, i]));
    const said = facts.map((fact): Said => ({
      text: fact.fact,
      session: `drawn ${Math.floor(place.get(fact)! / TOGETHER)}`,
      position: place.get(fact)! % TOGETHER,
      at: 0,
    }));
    const queries = facts.flatMap(({ queries }, answer) =>
      queries.map((text) => ({ text, answer }))
    );
    return { said, queries };
  });
}

function byName(
  conversations: readonly Conversation[],
  kind: "turns" | "facts",
  ranks: readonly number[],
): RanksByName {
  let start = 0;
  return new Map(conversations.map((conversation) => {
    const end = start + queriesOf([conversation], kind).length;
    const own = ranks.slice(start, end);
    start = end;
    return [conversation.name, own];
  }));
}

/** Mean nDCG of the kinds, without one conversation or of it alone. */
function ndcg(ranks: Readonly<Record<Kind, RanksByName>>, isIn: (name: string) => boolean) {
  const each = KINDS.flatMap((kind) => {
    const own = [...ranks[kind]].flatMap(([name, ranks]) => isIn(name) ? ranks : []);
    return own.length === 0 ? [] : [quality(own).ndcg10];
  });
  return each.reduce((sum, value) => sum + value, 0) / each.length;
}

/**
 * Prints the weights that serve turns, facts, and facts in sessions made at random best, with each
 * tuning conversation left out in turn, and how well they serve that one.
 */
export async function fit(embedder: Embedder): Promise<void> {
  const conversations = await readConversations("tuning");
  const tried = choices().map((weights) => ({
    weights,
    ranks: {} as Record<Kind, RanksByName>,
  }));
  for (const kind of ["turns", "facts"] as const) {
    const said = conversations.flatMap((conversation) => conversation[kind]);
    using scope = await ConversationScope.of(embedder, said, "session", kind);
    const queries = queriesOf(conversations, kind);
    for (const one of tried) {
      one.ranks[kind] = byName(conversations, kind, await scope.ranks(queries, one.weights));
    }
  }
  const sets = await unrelated();
  const drawn = tried.map((): number[] => []);
  for (const { said, queries } of sets) {
    using scope = await ConversationScope.of(embedder, said, "session", "turns");
    for (const [i, { weights }] of tried.entries()) {
      drawn[i]!.push(...await scope.ranks(queries, weights));
    }
  }
  for (const [i, one] of tried.entries()) one.ranks.unrelated = new Map([["", drawn[i]!]]);
  const bestWithout = (left: string | undefined) =>
    tried.reduce((a, b) => {
      const isIn = (name: string) => name !== left;
      return ndcg(b.ranks, isIn) > ndcg(a.ranks, isIn) ? b : a;
    });
  const found: Record<"turns" | "facts", number[]> = { turns: [], facts: [] };
  for (const { name } of conversations) {
    const { weights, ranks } = bestWithout(name);
    print(`without ${name.padEnd(14)} ${JSON.stringify(weights)}`);
    for (const kind of ["turns", "facts"] as const) found[kind].push(...ranks[kind].get(name)!);
  }
  print(`with all of them      ${JSON.stringify(bestWithout(undefined).weights)}`);
  for (const kind of ["turns", "facts"] as const) {
    const { hit1, hit5, recall10 } = quality(found[kind]);
    const numbers = [hit1, hit5, recall10].map((value) => value.toFixed(1)).join(" / ");
    print(`${kind}, left out in turn: hit@1 / hit@5 / recall@10 ${numbers}`);
  }
}

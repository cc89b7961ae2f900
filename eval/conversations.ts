import { uniform } from "../bench/statistics.ts";
import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { ContextWeights } from "../src/index/ranking.ts";
import { ResidentScope } from "../src/index/resident_scope.ts";
import { Arena } from "../src/index/vectors/arena.ts";
import type { Embedder, IndexEntry } from "../src/interfaces/mod.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { documentVectors } from "../src/memory/vectors.ts";
import { type Conversation, readConversations, type Said } from "./conversation_set.ts";
import { print } from "./print.ts";
import { gainInterval, type Quality, quality } from "../cli/memories/eval/ranks.ts";

const HELP = `deno task eval conversations [--held-out] [--fit]

  Whether recall finds the turns of conversations and the facts that they tell, with what stands
  beside them and without, on tests/testdata/conversations.
  --held-out   also the held-out conversations: at checkpoints, not while tuning
  --fit        the weights that serve the tuning conversations, each left out in turn
`;

const OWNER = { owner: "0x1", namespace: "default" };
/** Hits that are looked at; a rank beyond counts as one more. */
const LOOKED_AT = 100;
/** How long vectors of queries are kept: longer than a measurement takes. */
const KEPT_SECONDS = 10_000;

/** How what is stored says where it was said. */
export type Telling = "session" | "time" | "nothing";

/** Ranks of right answers, by the score alone and in context. */
export interface ContextRanks {
  readonly alone: number[];
  readonly inContext: number[];
}

/** A query, and the place of the memory that answers it. */
export interface Query {
  readonly text: string;
  readonly answer: number;
}

function entryOf(said: Said, place: number, telling: Telling, hasPosition: boolean): IndexEntry {
  const standing = telling !== "session"
    ? undefined
    : { sessionDigest: said.session, ...(hasPosition ? { position: said.position } : {}) };
  // Without times all were accepted at once.
  const at = telling === "nothing" ? 0 : said.at;
  return {
    ...OWNER,
    id: String(place).padStart(6, "0"),
    version: 1,
    vectors: [],
    payload: new Uint8Array(),
    keyId: "",
    createdAt: at,
    updatedAt: at,
    importance: 0.5,
    source: "remember",
    bytes: 0,
    ...(standing === undefined ? {} : { standing }),
  };
}

/** Memories of one namespace, loaded as the program loads them. */
export class ConversationScope implements Disposable {
  readonly #scope: ResidentScope;
  readonly #vectors: QueryVectors;

  private constructor(embedder: Embedder) {
    this.#scope = new ResidentScope(OWNER, new Arena(embedder.dimensions));
    this.#vectors = new QueryVectors(embedder, KEPT_SECONDS, Date.now);
  }

  /** With what was said in it; turns have positions. */
  static async of(
    embedder: Embedder,
    items: readonly Said[],
    telling: Telling,
    kind: "turns" | "facts",
  ): Promise<ConversationScope> {
    const made = new ConversationScope(embedder);
    const documents = await documentVectors(embedder, items.map(({ text }) => text), undefined);
    for (const [place, said] of items.entries()) {
      const entry = entryOf(said, place, telling, kind === "turns");
      made.#scope.put({ ...entry, vectors: documents[place]! });
      made.#scope.setText(entry.id, 1, said.text);
    }
    return made;
  }

  /** Ranks of what answers some questions. */
  async ranks(
    queries: readonly Query[],
    inContext: boolean | ContextWeights,
  ): Promise<number[]> {
    const ranks: number[] = [];
    for (const { text, answer } of queries) {
      const embedding = await this.#vectors.get(text);
      const hits = this.#scope.match({ ...embedding, text }, { limit: LOOKED_AT, inContext });
      const at = hits.findIndex(({ entry }) => Number(entry.id) === answer);
      ranks.push(at < 0 ? LOOKED_AT + 1 : at + 1);
    }
    return ranks;
  }

  [Symbol.dispose](): void {
    this.#scope.release();
  }
}

/** The questions of conversations that are in one namespace. */
export function queriesOf(
  conversations: readonly Conversation[],
  kind: "turns" | "facts",
): Query[] {
  let base = 0;
  return conversations.flatMap(({ questions, ...said }) => {
    const queries = questions.flatMap((question): Query[] => {
      const place = kind === "turns" ? question.turn : question.fact;
      return place === undefined ? [] : [{ text: question.text, answer: base + place }];
    });
    base += said[kind].length;
    return queries;
  });
}

/** Ranks in a set of conversations that are all in one namespace, or each in one of its own. */
export async function conversationRanks(
  embedder: Embedder,
  conversations: readonly Conversation[],
  kind: "turns" | "facts",
  together: boolean,
  telling: Telling = "session",
): Promise<ContextRanks> {
  const all: ContextRanks = { alone: [], inContext: [] };
  for (const part of together ? [conversations] : conversations.map((one) => [one])) {
    const items = part.flatMap((conversation) => conversation[kind]);
    using scope = await ConversationScope.of(embedder, items, telling, kind);
    const queries = queriesOf(part, kind);
    all.alone.push(...await scope.ranks(queries, false));
    all.inContext.push(...await scope.ranks(queries, true));
  }
  return all;
}

function lines(name: string, { alone, inContext }: ContextRanks): string[] {
  const line = (label: string, ranks: readonly number[]): string => {
    const { queries, hit1, hit5, recall10, ndcg10 } = quality(ranks);
    const numbers = [hit1, hit5, recall10, ndcg10].map((value) => value.toFixed(1).padStart(9));
    return `${name.padEnd(34)} ${String(queries).padStart(4)}  ${label.padEnd(10)}${
      numbers.join("")
    }`;
  };
  const between = (name: string, measure: (quality: Quality) => number): string => {
    const [low, high] = gainInterval(alone, inContext, measure, uniform(1));
    return `${name} ${low.toFixed(1)} to ${high.toFixed(1)}`;
  };
  const gains = [between("hit@1", (q) => q.hit1), between("recall@10", (q) => q.recall10)];
  return [
    line("alone", alone),
    line("in context", inContext),
    `  95 % interval of the gain: ${gains.join(", ")}`,
  ];
}

/** Prints how well turns and facts are found; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.some((arg) => arg !== "--held-out" && arg !== "--fit")) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
  if (args.includes("--fit")) {
    const { fit } = await import("./context_weights.ts");
    await fit(embedder);
    return 0;
  }
  print(`${"conversations".padEnd(31)} queries              hit@1    hit@5   rec@10  nDCG@10`);
  const folders = args.includes("--held-out")
    ? ["tuning", "held_out"] as const
    : ["tuning"] as const;
  for (const folder of folders) {
    const conversations = await readConversations(folder);
    for (const kind of ["turns", "facts"] as const) {
      for (const together of [true, false]) {
        for (const telling of ["session", "time"] as const) {
          const ranks = await conversationRanks(embedder, conversations, kind, together, telling);
          const where = together ? "all in one" : "each alone";
          print(...lines(`${folder} ${kind}, ${where}, ${telling}`, ranks));
        }
      }
    }
  }
  return 0;
}

import { uniform } from "../bench/statistics.ts";
import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import { ResidentScope } from "../src/index/resident_scope.ts";
import { Arena } from "../src/index/vectors/arena.ts";
import type { Embedder, IndexEntry } from "../src/interfaces/mod.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { documentVectors } from "../src/memory/vectors.ts";
import { type Conversation, readConversations, type Said } from "./conversation_set.ts";
import { print } from "./print.ts";
import { gainInterval, type Quality, quality } from "../cli/memories/eval/ranks.ts";

const HELP = `deno task eval conversations [--held-out]

  Whether recall finds the turns of conversations and the facts that they tell, with what stands
  beside them and without, on tests/testdata/conversations.
  --held-out   also the held-out conversations: at checkpoints, not while tuning
`;

const OWNER = { owner: "0x1", namespace: "default" };
/** Hits that are looked at; a rank beyond counts as one more. */
const LOOKED_AT = 100;

/** How what is stored says where it was said. */
export type Telling = "session" | "time" | "nothing";

/** Ranks of right answers, by the score alone and in context. */
export interface ContextRanks {
  readonly alone: number[];
  readonly inContext: number[];
}

/** A query, and the place of the memory that answers it. */
interface Query {
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

/** Ranks of what answers some questions in one namespace. */
export async function ranksIn(
  embedder: Embedder,
  items: readonly Said[],
  queries: readonly Query[],
  telling: Telling,
  kind: "turns" | "facts",
): Promise<ContextRanks> {
  const documents = await documentVectors(embedder, items.map(({ text }) => text), undefined);
  const scope = new ResidentScope(OWNER, new Arena(embedder.dimensions));
  for (const [place, said] of items.entries()) {
    const entry = entryOf(said, place, telling, kind === "turns");
    scope.put({ ...entry, vectors: documents[place]! });
    scope.setText(entry.id, 1, said.text);
  }
  const vectors = new QueryVectors(embedder, 0, Date.now);
  const ranks: ContextRanks = { alone: [], inContext: [] };
  for (const { text, answer } of queries) {
    const embedding = await vectors.get(text);
    const rankOf = (inContext: boolean): number => {
      const hits = scope.match({ ...embedding, text }, { limit: LOOKED_AT, inContext });
      const at = hits.findIndex(({ entry }) => Number(entry.id) === answer);
      return at < 0 ? LOOKED_AT + 1 : at + 1;
    };
    ranks.alone.push(rankOf(false));
    ranks.inContext.push(rankOf(true));
  }
  scope.release();
  return ranks;
}

function queriesOf(conversations: readonly Conversation[], kind: "turns" | "facts"): Query[] {
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
    const ranks = await ranksIn(embedder, items, queriesOf(part, kind), telling, kind);
    all.alone.push(...ranks.alone);
    all.inContext.push(...ranks.inContext);
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
  if (args.some((arg) => arg !== "--held-out")) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  await using embedder = useLiteEmbedder();
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

import { uniform } from "../bench/statistics.ts";
import type { IndexEntry } from "../src/interfaces/mod.ts";
import type { Embedder } from "../src/interfaces/mod.ts";
import { ResidentScope } from "../src/index/resident_scope.ts";
import { Arena } from "../src/index/vectors/arena.ts";
import { Question as AskedQuestion } from "../src/memory/recall/answer_kinds.ts";
import type { Evidence, RecallMode } from "../src/memory/recall/confidence.ts";
import { QueryVectors } from "../src/memory/recall/query_vectors.ts";
import { documentVectors } from "../src/memory/vectors.ts";
import { readQuerySet } from "./query_set.ts";

/** Whether some fact of the store answers a question, is only about the same thing, or neither. */
type Sort = "answerable" | "near" | "far";

/** A question to a store. */
export interface Question {
  readonly sort: Sort;
  readonly question: string;
  /** The fact that answers it. */
  readonly answer?: string;
  readonly facts: readonly string[];
}

/** What a recall with a limit of 10 finds for a question, best first. */
export interface Found {
  readonly sort: Sort;
  readonly hits: readonly { readonly evidence: Evidence; readonly isRight: boolean }[];
  /** How many facts the store had. */
  readonly among: number;
}

interface Store {
  readonly facts: readonly string[];
  readonly answerable: readonly { readonly question: string; readonly answer: string }[];
  readonly near: readonly string[];
  readonly far: readonly string[];
}

const FOLDER = new URL("../tests/testdata/silence/", import.meta.url);

/** The questions of a file of tests/testdata/silence. */
export async function readQuestions(file: string): Promise<Question[]> {
  const text = await Deno.readTextFile(new URL(`${file}.json`, FOLDER));
  return (JSON.parse(text) as { stores: Store[] }).stores.flatMap((store) => {
    const { facts } = store;
    return [
      ...store.answerable.map((one) => ({ ...one, sort: "answerable" as const, facts })),
      ...store.near.map((question) => ({ question, sort: "near" as const, facts })),
      ...store.far.map((question) => ({ question, sort: "far" as const, facts })),
    ];
  });
}

/** Every query of files of tests/testdata/retrieval, with its fact in the store and without. */
export async function readRetrieval(files: readonly string[]): Promise<Question[]> {
  const { stores } = await readQuerySet("retrieval", files);
  return stores.flatMap((store) => {
    const facts = store.facts.map(({ fact }) => fact);
    return store.facts.flatMap(({ fact, queries }) => {
      const others = facts.filter((other) => other !== fact);
      return queries.flatMap((question): Question[] => [
        { question, sort: "answerable", answer: fact, facts },
        { question, sort: "near", facts: others },
      ]);
    });
  });
}

const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}-]+/gu;

/**
 * Names and numbers of which only one fact of its store knows, as queries, with the fact in the
 * store and without: people look them up.
 */
export function lookUps(questions: readonly Question[]): Question[] {
  return [...new Set(questions.map(({ facts }) => facts))].flatMap((facts) => {
    const tokens = facts.map((fact) => new Set(fact.toLowerCase().match(TOKEN) ?? []));
    return facts.flatMap((fact) => {
      const names = (fact.match(TOKEN) ?? []).filter((token) => {
        const isName = /\d/.test(token) || (/^\p{Lu}/u.test(token) && !fact.startsWith(token));
        return isName && tokens.filter((known) => known.has(token.toLowerCase())).length === 1;
      });
      const others = facts.filter((other) => other !== fact);
      return names.flatMap((question): Question[] => [
        { question, sort: "answerable", answer: fact, facts },
        { question, sort: "far", facts: others },
      ]);
    });
  });
}

/** The same questions to smaller stores of each of these sizes; the answer stays. */
export function inSmallerStores(
  questions: readonly Question[],
  sizes: readonly number[],
): Question[] {
  const random = uniform(1);
  return questions.flatMap((question) => {
    const { facts, answer } = question;
    return sizes.filter((size) => size < facts.length).map((size) => {
      const shuffled = facts.filter((fact) => fact !== answer)
        .map((fact) => ({ fact, at: random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ fact }) => fact);
      const kept = answer === undefined ? shuffled : [answer, ...shuffled];
      return { ...question, facts: kept.slice(0, size) };
    });
  });
}

/** Asks questions as a recall does. */
export class Asking {
  readonly #embedder: Embedder;
  readonly #queries: QueryVectors;
  readonly #arena: Arena;
  readonly #vectors = new Map<string, readonly Float32Array[]>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
    this.#queries = new QueryVectors(embedder, 3600, Date.now);
    this.#arena = new Arena(embedder.dimensions);
  }

  /** What is found for each. */
  async ask(questions: readonly Question[], mode: RecallMode = "hybrid"): Promise<Found[]> {
    const found: Found[] = [];
    for (const question of questions) found.push(await this.#ask(question, mode));
    return found;
  }

  async #ask({ question, answer, facts, sort }: Question, mode: RecallMode): Promise<Found> {
    const scope = await this.#scope(facts);
    const asked = new AskedQuestion(question);
    const { vector, known, unread = false } = await this.#queries.get(question);
    const matches = scope.match({
      ...(mode === "keyword" ? {} : { vector, known, unread }),
      ...(mode === "semantic" ? {} : { text: question }),
    }, { limit: 10 });
    scope.release();
    const hits = matches.map(({ entry, distance, score, coverage, among }) => {
      const text = facts[Number(entry.id)]!;
      const evidence: Evidence = {
        question: asked,
        text,
        closeness: mode === "keyword" ? 0 : 1 - distance - this.#embedder.closeness!,
        known: mode === "keyword" ? 1 : known,
        coverage,
        behind: matches[0]!.score - score,
        among,
      };
      return { evidence, isRight: text === answer };
    });
    return { sort, hits, among: facts.length };
  }

  async #scope(facts: readonly string[]): Promise<ResidentScope> {
    const missing = facts.filter((fact) => !this.#vectors.has(fact));
    const embedded = missing.length === 0
      ? []
      : await documentVectors(this.#embedder, missing, undefined);
    missing.forEach((fact, i) => this.#vectors.set(fact, embedded[i]!));
    const scope = new ResidentScope({ owner: "0x01", namespace: "facts" }, this.#arena);
    facts.forEach((fact, i) => {
      scope.put(entryOf(String(i), this.#vectors.get(fact)!));
      scope.setText(String(i), 1, fact);
    });
    return scope;
  }
}

function entryOf(id: string, vectors: readonly Float32Array[]): IndexEntry {
  return {
    owner: "0x01",
    namespace: "facts",
    id,
    version: 1,
    vectors,
    payload: new Uint8Array(),
    keyId: "",
    createdAt: 0,
    updatedAt: 0,
    importance: 0.5,
    source: "remember",
    bytes: 0,
  };
}

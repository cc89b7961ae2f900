import { type SvcClient, SvcError } from "../../src/client/mod.ts";
import { poll } from "../within.ts";
import type { Fault, FaultProxy } from "./fault_proxy.ts";

/** Refusals that say what is missing. */
const UNAVAILABLE: readonly string[] = [
  "chain_unavailable",
  "embedding_unavailable",
  "key_service_unavailable",
  "llm_unavailable",
  "overloaded",
  "storage_unavailable",
];
/** Longest wait for an answer while something fails, milliseconds. */
const ANSWER_MS = 130_000;
/** How long a fault lasts at least, and everything takes to be well behind it, milliseconds. */
const FAULT_MS = 1500;
const HEALED_MS = 120_000;

/** What became of a fault. */
export interface Outcome {
  readonly dependency: string;
  readonly fault: Fault;
  /** Connections that met it. */
  readonly asked: number;
  /** Writes that were accepted meanwhile, of three. */
  readonly accepted: number;
  /** Longest answer meanwhile, and time until all was well again, milliseconds. */
  readonly longestMs: number;
  readonly healedMs: number;
  /** What was wrong. */
  readonly problems: readonly string[];
}

let facts = 0;

/** A try under a fault: it succeeds, or is refused with a code that says what is missing. */
class Tries {
  readonly problems: string[] = [];
  longestMs = 0;

  async try<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const began = performance.now();
    try {
      return await call(AbortSignal.timeout(ANSWER_MS));
    } catch (error) {
      const code = error instanceof SvcError ? error.code : String(error);
      if (!UNAVAILABLE.includes(code)) this.problems.push(`${what}: ${code}`);
      return undefined;
    } finally {
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
    }
  }
}

/** Has a dependency fail, works meanwhile, heals it, and looks whether all is well and nothing lost. */
export async function tryFault(
  client: SvcClient,
  [dependency, proxies]: readonly [string, readonly FaultProxy[]],
  fault: Fault,
): Promise<Outcome> {
  const tries = new Tries();
  const jobs = new Map<string, string>();
  const tellFact = async () => {
    const text = `Fact number ${++facts}: box ${facts * 7919} stands in cellar ${facts % 13}`;
    const made = await tries.try("remember", (signal) => client.remember(text, {}, { signal }));
    if (made !== undefined) jobs.set(made.job_id, text);
  };
  for (const proxy of proxies) proxy.set(fault);
  const began = performance.now();
  await tellFact();
  await tries.try("recall", (signal) => client.recall(`box ${facts * 7919}`, {}, { signal }));
  await tries.try("list", (signal) => client.memories({ limit: 5 }, { signal }));
  await tellFact();
  const text = `I keep ${facts} canaries. My sister lives in Brno.`;
  await tries.try("analyze", (signal) => client.analyze(text, { namespace: "a" }, { signal }));
  await new Promise((r) => setTimeout(r, Math.max(0, FAULT_MS - (performance.now() - began))));
  await tellFact();
  const asked = proxies.reduce((sum, proxy) => sum + proxy.asked, 0);
  for (const proxy of proxies) proxy.set(undefined);
  const healing = performance.now();
  const problems = [...tries.problems, ...await problemsAfter(client, jobs)];
  const healedMs = performance.now() - healing;
  const { longestMs } = tries;
  return { dependency, fault, asked, accepted: jobs.size, longestMs, healedMs, problems };
}

/** Whether every accepted fact is done, and there once. */
async function problemsAfter(
  client: SvcClient,
  jobs: ReadonlyMap<string, string>,
): Promise<string[]> {
  const problems: string[] = [];
  // Breakers let the next try through after a while; the fault that follows finds them closed.
  const wellAgain = async () => {
    await client.remember("All is well again");
    await client.recall("well");
    return true;
  };
  const isWell = await poll(() => wellAgain().catch(() => false), Boolean, HEALED_MS)
    .catch(() => false);
  if (!isWell) problems.push("it is not well again");
  for (const [id, text] of jobs) {
    const state = async () =>
      await client.job(id).then(({ status }) => status as string, (error) => String(error));
    const last = await poll(state, (s) => s === "done" || s === "failed", HEALED_MS)
      .catch((error) => String(error));
    if (last !== "done") problems.push(`accepted, and then: ${last}`);
    const found = async () => {
      const results = await client.recall(text, { limit: 20 }).then((answer) => answer.results)
        .catch(() => []);
      return results.filter((hit) => hit.text === text).length;
    };
    const count = await poll(found, (n) => n > 0, HEALED_MS).catch(() => 0);
    if (count !== 1) problems.push(`a fact is there ${count} times`);
  }
  return problems;
}

import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { poll } from "../within.ts";
import { App } from "./app.ts";
import type { Cluster } from "./cluster.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { allTexts, makeOwners, type OwnerKey } from "./owners.ts";
import { Person, randomOf } from "./person.ts";

const PEOPLE = 8;
const APPS = 2;
/** How long a client waits for an answer, milliseconds. */
const ANSWER_MS = 8_000;

/** What came of one kind of fault. */
export interface Outcome {
  readonly fault: Fault;
  /** How long until everybody was served again, each time, milliseconds, ascending. */
  readonly backMs: readonly number[];
}

/** What came of all of it. */
export interface ChaosResult {
  readonly outcomes: readonly Outcome[];
  /** Why faults could not be tried. */
  readonly left: readonly string[];
  readonly accepted: number;
  readonly calls: number;
  /** Sessions of MCP that were begun. */
  readonly sessions: number;
}

/** How much is done. */
export interface ChaosOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Memories that are accepted before the next fault. */
  readonly between: number;
  /** What names of faults must hold; any when absent. */
  readonly only?: string;
  /** Told of each round when it is over. */
  readonly told?: (line: string) => void;
}

/**
 * Lets one thing after the other go wrong while owners and apps remember, correct, delete and recall
 * through the balancer.
 *
 * @throws {Error} when something that was accepted is lost, doubled, brought back, or not found; or
 * when somebody is not served for a minute.
 */
export async function chaos(cluster: Cluster, options: ChaosOptions): Promise<ChaosResult> {
  const { rounds, seed, between, only = "", told = () => {} } = options;
  const keys = await makeOwners(cluster.database.url, PEOPLE + APPS);
  const clientOf = (key: OwnerKey) =>
    new SvcClient({ baseUrl: cluster.url, timeoutMs: ANSWER_MS, ...key });
  const people = keys.slice(0, PEOPLE).map((key, i) =>
    new Person(`p${i}`, [clientOf(key)], randomOf(seed + i))
  );
  const appKeys = keys.slice(PEOPLE);
  const apps = appKeys.map((key) => new App(cluster.url, key));
  const everybody = [...people, ...apps];
  const working = new AbortController();
  const work = Promise.all(everybody.map(async (one) => {
    while (!working.signal.aborted) await one.step();
  }));
  work.catch(() => {});
  const accepted = () =>
    people.reduce((sum, person) => sum + person.accepted, 0) +
    apps.reduce((sum, { texts }) => sum + texts.length, 0);
  const until = (fits: () => boolean) => Promise.race([poll(fits, Boolean), work]);

  const random = randomOf(seed);
  const choose = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const left = FAULTS.flatMap(({ name, lacks }) => {
    const reason = lacks(cluster);
    return reason === undefined ? [] : [`${name}: ${reason}`];
  });
  const possible = FAULTS.filter(({ lacks, name }) =>
    lacks(cluster) === undefined && name.includes(only)
  );
  const back = new Map(possible.map((fault) => [fault, [] as number[]]));
  try {
    for (let round = 0; round < rounds; round++) {
      const enough = accepted() + between;
      await until(() => accepted() >= enough);
      const fault = possible[round % possible.length]!;
      const struck = await Promise.race([fault.strike(cluster, choose), work]);
      if (typeof struck !== "number") throw new Error("the work has ended");
      await until(() => everybody.every((one) => one.isServedSince(struck)));
      const ms = performance.now() - struck;
      back.get(fault)!.push(ms);
      told(`${round + 1}: ${fault.name}: ${(ms / 1000).toFixed(1)} s; ${accepted()} accepted`);
    }
    working.abort();
    await work;
    for (const person of people) await person.check();
    for (const [i, app] of apps.entries()) await checkApp(app, clientOf(appKeys[i]!));
  } finally {
    working.abort();
    await Promise.all(apps.map((app) => app.end().catch(() => {})));
  }
  return {
    outcomes: [...back].map(([fault, all]) => ({
      fault,
      backMs: all.toSorted((a, b) => a - b),
    })),
    left,
    accepted: accepted(),
    calls: people.reduce((sum, { calls }) => sum + calls, 0),
    sessions: apps.reduce((sum, { sessions }) => sum + sessions, 0),
  };
}

/** Compares what an app was told is remembered with what is there. */
async function checkApp(app: App, client: SvcClient): Promise<void> {
  const there = await allTexts((call) => call(client));
  assert.deepEqual([...new Set(there)], app.texts.toSorted());
  assert.deepEqual(app.doubled(there), []);
}

import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { timeEach, timePaced } from "./load.ts";
import { writePaced, type Written } from "./paced_writes.ts";
import { startRelayer } from "./relayer_process.ts";
import type { CpuTime, ServerProcess } from "./server_process.ts";
import { getRequest, type WireRequest } from "./signing_key.ts";
import { median, quantile } from "./statistics.ts";

const SCOPES = { n1000: 1000, n10000: 10_000 };
/** Accounts; the first one recalls, the others write to their own namespaces. */
const ACCOUNTS = 4;
const WRITES_PER_SECOND = 1000;
/** Most memories a request. */
const BULK = 20;
/**
 * Times everything is measured, each time with a relayer of its own on a copy of the data. All times
 * together count: what is compared lies a minute apart, and the machine has phases; and of the
 * recalls of one round only five are slower than their 99th percentile.
 */
const ROUNDS = 3;
/** Seconds of writing that are measured in a round. */
const SECONDS = 40;
/** And before: what happens once in a process is over, what was not compiled is. */
const WARM_UP_SECONDS = 8;
/** Seconds of recalls measured in a round while nothing is written. */
const IDLE_SECONDS = 40;
/** Milliseconds between two recalls of one kind; the two kinds take turns. */
const INTERVAL = 80;
const QUERY = "What do I drink in the morning?";

interface Scenario {
  readonly name: string;
  readonly namespace: keyof typeof SCOPES;
  /** Memories a request. */
  readonly bulk: number;
  /** Whether the memories go to the namespace that is recalled. */
  readonly same: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "1,000, bulks to others", namespace: "n1000", bulk: BULK, same: false },
  { name: "10,000, bulks to others", namespace: "n10000", bulk: BULK, same: false },
  { name: "10,000, singles to others", namespace: "n10000", bulk: 1, same: false },
  { name: "1,000, bulks to the same", namespace: "n1000", bulk: BULK, same: true },
  { name: "10,000, bulks to the same", namespace: "n10000", bulk: BULK, same: true },
];

const KINDS = ["cached", "new"] as const;
/** Milliseconds of recalls by kind of query. */
type Times = Readonly<Record<(typeof KINDS)[number], readonly number[]>>;

/** What one round of a scenario came to. */
interface Round {
  readonly idle: Times;
  readonly busy: Times;
  /** The same of every round, to be averaged; in the order in which they are printed. */
  readonly figures: readonly Figure[];
}

/** Number of the next query that was never asked. */
let asked = 0;

/**
 * Recalls of one namespace while a thousand memories a second are accepted. They are more than
 * can be embedded on a few cores: the others wait as jobs.
 */
export const writesPart: Part = {
  name: "writes",
  title:
    `writes: a cached and a new query every ${INTERVAL} ms, each from a client of its own, while another process writes; ${ROUNDS} rounds`,
  async run(note) {
    await using folder = await DataFolder.make(ACCOUNTS);
    note("filling");
    await fill(folder, SCOPES);
    const rounds = SCENARIOS.map((): Round[] => []);
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [i, scenario] of SCENARIOS.entries()) {
        note(`round ${round} of ${ROUNDS}: ${scenario.name}`);
        await using copy = await folder.copy();
        rounds[i]!.push(await measure(copy, scenario));
      }
    }
    const figures = SCENARIOS.flatMap(({ name }, i) => figuresOf(name, rounds[i]!));
    note("waiting recalls");
    await using copy = await folder.copy();
    return [...figures, ...await waiting(copy)];
  },
};

async function measure(folder: DataFolder, scenario: Scenario): Promise<Round> {
  // Who writes to the namespace would wait for that, by design: see `waiting`.
  const env = scenario.same ? { SVC_RECALL_WAIT_MS: "0" } : {};
  await using server = await startRelayer(folder, env);
  using clients = await Clients.open(server.port);
  const recalls = (active: () => boolean) => recallWhile(clients, folder, scenario, active);
  await recalls(forSeconds(WARM_UP_SECONDS));
  const before = { at: performance.now(), cpu: await server.cpu() };
  const idle = await recalls(forSeconds(IDLE_SECONDS));
  const between = { at: performance.now(), cpu: await server.cpu() };
  const [written, { busy, start, end }] = await writing(
    server,
    folder,
    scenario,
    async (active) => {
      await recalls(forSeconds(WARM_UP_SECONDS));
      const pending = await pendingOf(clients.cached);
      const start = { pending, at: performance.now(), cpu: await server.cpu() };
      const busy = await recalls(active);
      return { busy, start, end: { at: performance.now(), cpu: await server.cpu() } };
    },
  );
  const pending = await pendingOf(clients.cached) - start.pending;
  const accepted = written.requests * scenario.bulk;
  const figures: Figure[] = [
    { name: "accepted", value: accepted / written.seconds, unit: "/s" },
    { name: "done meanwhile", value: (accepted - pending) / written.seconds, unit: "/s" },
    { name: "accept, p99", value: written.p99, unit: "ms" },
    ...coreFigures("idle", before, between),
    ...coreFigures("meanwhile", start, end),
  ];
  return { idle, busy, figures };
}

/** Figures of all rounds of a scenario. */
function figuresOf(scenario: string, rounds: readonly Round[]): Figure[] {
  const name = (what: string) => `${scenario}: ${what}`;
  const all = (times: (round: Round) => readonly number[]) => rounds.flatMap(times);
  return [
    ...rounds[0]!.figures.map((figure, i): Figure => {
      const sum = rounds.reduce((sum, { figures }) => sum + figures[i]!.value, 0);
      return { ...figure, name: name(figure.name), value: sum / rounds.length };
    }),
    ...KINDS.flatMap((kind): Figure[] => {
      const [idle, busy] = [all((round) => round.idle[kind]), all((round) => round.busy[kind])];
      const [calm, loaded] = [quantile(idle, 0.99), quantile(busy, 0.99)];
      const of = (what: string) => name(`${kind} query, ${what}`);
      return [
        { name: of("idle, p50"), value: median(idle), unit: "ms" },
        { name: of("idle, p99"), value: calm, unit: "ms" },
        { name: of("meanwhile, p50"), value: median(busy), unit: "ms" },
        { name: of("meanwhile, p99"), value: loaded, unit: "ms" },
        { name: of("p99 meanwhile / idle"), value: loaded / calm, unit: "x", goal: { atMost: 3 } },
      ];
    }),
  ];
}

/** CPU time used by a moment. */
interface CpuAt {
  readonly at: number;
  readonly cpu: CpuTime;
}

/** What the relayer had of the cores, and what others on the machine kept from it. */
function coreFigures(name: string, begin: CpuAt, end: CpuAt): Figure[] {
  const [from, to] = [begin.cpu, end.cpu];
  const percent = (part: number) => 100 * part / (end.at - begin.at);
  return [
    { name: `${name}, CPU`, value: percent(to.all - from.all), unit: "%" },
    { name: `${name}, event loop's CPU`, value: percent(to.main - from.main), unit: "%" },
    {
      name: `${name}, event loop kept from a core`,
      value: percent(to.mainKept - from.mainKept),
      unit: "%",
    },
  ];
}

/** How long a recall takes that waits for what its caller wrote to the namespace before. */
async function waiting(folder: DataFolder): Promise<Figure[]> {
  const scenario = { name: "", namespace: "n10000", bulk: BULK, same: true } as const;
  await using server = await startRelayer(folder);
  using connection = await Connection.open(server.port);
  const [, times] = await writing(server, folder, scenario, async (active) => {
    const warm = performance.now() + 1000 * WARM_UP_SECONDS;
    const each: number[] = [];
    while (active()) {
      const body = { query: QUERY, namespace: scenario.namespace };
      const request = folder.key.request("POST", "/api/recall", body);
      const [ms = NaN] = await timeEach(connection, [request]);
      if (performance.now() >= warm) each.push(ms);
    }
    return each;
  });
  const name = "10,000, bulks to the same: a recall that waits for its own jobs";
  return [
    { name: `${name}, p50`, value: median(times), unit: "ms" },
    { name: `${name}, slowest`, value: Math.max(...times), unit: "ms" },
  ];
}

/** Whether so much time has not passed since. */
function forSeconds(seconds: number): () => boolean {
  const end = performance.now() + 1000 * seconds;
  return () => performance.now() < end;
}

/**
 * A connection for each kind of query: on one, a cached query would wait for the new one before it
 * to be embedded, and both kinds would measure the slower one.
 */
class Clients implements Disposable {
  private constructor(readonly cached: Connection, readonly fresh: Connection) {}

  static async open(port: number): Promise<Clients> {
    return new Clients(await Connection.open(port), await Connection.open(port));
  }

  [Symbol.dispose](): void {
    this.cached[Symbol.dispose]();
    this.fresh[Symbol.dispose]();
  }
}

/** Recalls at their pace, cached and new queries in turn, as long as `active`. */
async function recallWhile(
  clients: Clients,
  folder: DataFolder,
  { namespace }: Scenario,
  active: () => boolean,
): Promise<Times> {
  const requests = function* (queryOf: () => string): Generator<WireRequest> {
    while (active()) {
      yield folder.key.request("POST", "/api/recall", { query: queryOf(), namespace });
    }
  };
  const fresh = async (): Promise<number[]> => {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL / 2));
    return await timePaced(clients.fresh, requests(() => `${sentence(asked++)}?`), INTERVAL);
  };
  const [cached, times] = await Promise.all([
    timePaced(clients.cached, requests(() => QUERY), INTERVAL),
    fresh(),
  ]);
  return { cached, new: times };
}

/** Writes from another process; `work` begins with the writes and goes on as long as they do. */
async function writing<T>(
  { port }: ServerProcess,
  folder: DataFolder,
  scenario: Scenario,
  work: (active: () => boolean) => Promise<T>,
): Promise<[Written, T]> {
  const requests = writesOf(folder, scenario);
  const started = Promise.withResolvers<void>();
  let active = true;
  const written = writePaced({
    port,
    requests,
    intervalMs: 1000 * scenario.bulk / WRITES_PER_SECOND,
    clients: scenario.bulk === 1 ? 32 : 4,
    warmUp: WARM_UP_SECONDS * WRITES_PER_SECOND / scenario.bulk,
    file: `${folder.path}/requests`,
    onStarted: started.resolve,
  }).finally(() => active = false);
  return await Promise.all([written, started.promise.then(() => work(() => active))]);
}

/** Signed beforehand: nothing of it falls into the measurement. */
function writesOf(folder: DataFolder, { bulk, same, namespace }: Scenario): WireRequest[] {
  const seconds = WARM_UP_SECONDS + SECONDS;
  return Array.from({ length: seconds * WRITES_PER_SECOND / bulk }, (_, i) => {
    const key = same ? folder.key : folder.keys[1 + i % (ACCOUNTS - 1)]!;
    const target = same ? namespace : `other${i % 7}`;
    const items = Array.from({ length: bulk }, (_, j) => ({
      text: sentence(1_000_000 + i * bulk + j),
      namespace: target,
    }));
    return bulk === 1
      ? key.request("POST", "/api/remember", items[0])
      : key.request("POST", "/api/remember/bulk", { items });
  });
}

/** Accepted memories that are not worked on to the end yet. */
export async function pendingOf(connection: Connection): Promise<number> {
  const { dependencies } = await connection.json(getRequest("/health"));
  return (dependencies as { queue: { pending: number } }).queue.pending;
}

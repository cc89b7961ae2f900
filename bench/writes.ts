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
/** Seconds of writing that are measured. */
const SECONDS = 48;
/** And before: what happens once in a process is over, what was not compiled is. */
const WARM_UP_SECONDS = 4;
/** Recalls measured while nothing is written. */
const IDLE = 1200;
/** And before that. */
const WARM_UP = 100;
/** Milliseconds between two recalls, a cached and a new query in turn. */
const INTERVAL = 40;
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

/** Number of the next query that was never asked. */
let fresh = 0;

/**
 * Recalls of one namespace while a thousand memories a second are accepted. They are more than
 * can be embedded on a few cores: the others wait as jobs.
 */
export const writesPart: Part = {
  name: "writes",
  title: `writes: recall every ${INTERVAL} ms, one client, while another process writes`,
  async run(note) {
    await using folder = await DataFolder.make(ACCOUNTS);
    note("filling");
    await fill(folder, SCOPES);
    const figures: Figure[] = [];
    for (const scenario of SCENARIOS) {
      note(scenario.name);
      await using copy = await folder.copy();
      figures.push(...await measure(copy, scenario));
    }
    note("waiting recalls");
    await using copy = await folder.copy();
    return [...figures, ...await waiting(copy)];
  },
};

async function measure(folder: DataFolder, scenario: Scenario): Promise<Figure[]> {
  // Who writes to the namespace would wait for that, by design: see `waiting`.
  const env = scenario.same ? { SVC_RECALL_WAIT_MS: "0" } : {};
  await using server = await startRelayer(folder, env);
  using connection = await Connection.open(server.port);
  await recallWhile(connection, folder, scenario, atMost(WARM_UP));
  const before = await server.cpu();
  const idle = await recallWhile(connection, folder, scenario, atMost(IDLE));
  const between = await server.cpu();
  const [written, { busy, start, end }] = await writing(
    server,
    folder,
    scenario,
    async (active) => {
      const warm = performance.now() + 1000 * WARM_UP_SECONDS;
      await recallWhile(connection, folder, scenario, () => performance.now() < warm);
      const pending = await pendingOf(connection);
      const start = { pending, at: performance.now(), cpu: await server.cpu() };
      const busy = await recallWhile(connection, folder, scenario, active);
      return { busy, start, end: { at: performance.now(), cpu: await server.cpu() } };
    },
  );
  const pending = await pendingOf(connection) - start.pending;
  const accepted = written.requests * scenario.bulk;
  const name = (what: string) => `${scenario.name}: ${what}`;
  return [
    { name: name("accepted"), value: accepted / written.seconds, unit: "/s" },
    {
      name: name("done meanwhile"),
      value: (accepted - pending) / written.seconds,
      unit: "/s",
    },
    { name: name("accept, p99"), value: written.p99, unit: "ms" },
    ...coreFigures(name("idle"), before, between, IDLE * INTERVAL),
    ...coreFigures(name("meanwhile"), start.cpu, end.cpu, end.at - start.at),
    ...KINDS.flatMap((kind): Figure[] => {
      const [calm, loaded] = [quantile(idle[kind], 0.99), quantile(busy[kind], 0.99)];
      const of = (what: string) => name(`${kind} query, ${what}`);
      return [
        { name: of("idle, p50"), value: median(idle[kind]), unit: "ms" },
        { name: of("idle, p99"), value: calm, unit: "ms" },
        { name: of("meanwhile, p50"), value: median(busy[kind]), unit: "ms" },
        { name: of("meanwhile, p99"), value: loaded, unit: "ms" },
        { name: of("p99 meanwhile / idle"), value: loaded / calm, unit: "x", goal: { atMost: 3 } },
      ];
    }),
  ];
}

/** What the relayer had of the cores, and what others on the machine kept from it. */
function coreFigures(name: string, from: CpuTime, to: CpuTime, ms: number): Figure[] {
  const percent = (part: number) => 100 * part / ms;
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

/** Lets so many through. */
function atMost(left: number): () => boolean {
  return () => left-- > 0;
}

/** Recalls at their pace, a cached and a new query in turn, as long as `active`. */
async function recallWhile(
  connection: Connection,
  folder: DataFolder,
  { namespace }: Scenario,
  active: () => boolean,
): Promise<Times> {
  let count = 0;
  const requests = function* (): Generator<WireRequest> {
    while (active()) {
      const query = count++ % 2 === 0 ? QUERY : `${sentence(fresh++)}?`;
      yield folder.key.request("POST", "/api/recall", { query, namespace });
    }
  };
  const times = await timePaced(connection, requests(), INTERVAL);
  const every = (rest: number) => times.filter((_, i) => i % 2 === rest);
  return { cached: every(0), new: every(1) };
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
async function pendingOf(connection: Connection): Promise<number> {
  const { dependencies } = await connection.json(getRequest("/health"));
  return (dependencies as { queue: { pending: number } }).queue.pending;
}

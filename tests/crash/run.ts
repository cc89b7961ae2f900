import { DatabaseSync } from "node:sqlite";
import { Check, type Findings } from "./check.ts";
import { type Env, Installation, type RunningRelayer } from "./installation.ts";
import { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { scan } from "./scan.ts";
import { below } from "./texts.ts";
import { idle } from "./wire.ts";

/** How long and how hard. */
export interface LoopOptions {
  /** Crashes under load. */
  readonly kills: number;
  /** Memories to accept at least. */
  readonly accepts: number;
  /** Clients at work at once. */
  readonly clients: number;
  /** Shortest and longest time between a start and its crash, milliseconds. */
  readonly pause: readonly [number, number];
  /** Settings of the relayer. */
  readonly env?: Env;
}

/** What came of it. */
export interface LoopResult {
  /** What is wrong with the memories. */
  readonly findings: Findings;
  /** Answers that were not expected, damaged files, secrets on disk or in the logs. */
  readonly problems: readonly string[];
  /** Numbers of the run, in one line. */
  readonly summary: string;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A relayer that crashes and starts again; clients wait while there is none. */
class Crasher {
  readonly #installation: Installation;
  #relayer = Promise.withResolvers<RunningRelayer>();
  kills = 0;
  /** Longest time from a start to its listening, milliseconds. */
  slowestStart = 0;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  async start(): Promise<void> {
    const begin = performance.now();
    const relayer = await this.#installation.start();
    this.slowestStart = Math.max(this.slowestStart, performance.now() - begin);
    this.#relayer.resolve(relayer);
  }

  running(): Promise<RunningRelayer> {
    return this.#relayer.promise;
  }

  async crash(): Promise<void> {
    const relayer = await this.running();
    this.#relayer = Promise.withResolvers();
    await relayer.crash();
    this.kills++;
    // Now and then also while it starts.
    if (below(6) > 0) return;
    const child = await this.#installation.spawnRelayer();
    await sleep(below(200));
    child.kill("SIGKILL");
    await child.ended();
  }
}

/** Crashes a relayer again and again under load, and looks at what it has then. */
export async function runLoop(options: LoopOptions): Promise<LoopResult> {
  const begin = performance.now();
  await using installation = await Installation.create(options.env);
  const identity = await installation.account();
  const ledger = new Ledger();
  const crasher = new Crasher(installation);
  await crasher.start();
  const config = await (await fetch(`${(await crasher.running()).url}/config`)).json();
  const load = new Load(ledger, identity, {
    dimensions: config.embeddingDimensions,
    url: async () => (await crasher.running()).url,
  });
  const working = load.run(options.clients);
  const [shortest, longest] = options.pause;
  while (crasher.kills < options.kills || ledger.accepts < options.accepts) {
    await sleep(shortest + below(longest - shortest));
    await crasher.crash();
    await crasher.start();
  }
  load.stop();
  await working;

  const relayer = await crasher.running();
  const drained = performance.now();
  await idle(relayer.url, 120_000);
  const drainMs = performance.now() - drained;
  const findings = await new Check(ledger, identity, relayer.url).run();
  const problems = [...ledger.problems];
  // The table's own file is checked at rest: it belongs to one process.
  const code = await relayer.stop();
  if (code !== 0) problems.push(`exit code ${code}`);
  // With a database the rest is there.
  const files = installation.database === undefined ? ["blobs.db", "index.db", "jobs.kv"] : [];
  for (const name of ["core.db", ...files]) {
    problems.push(...integrityProblems(`${installation.dataDir}/${name}`));
  }
  problems.push(...await scan(installation, identity, ledger.bodyHashes));
  const { broken, replayed, accepts, sent } = ledger;
  const deleted = sent.filter(({ deletion }) => deletion === "answered").length;
  const numbers = {
    kills: crasher.kills,
    accepts,
    deleted,
    broken,
    replayed,
    ...findings,
    problems: problems.length,
    start_ms: Math.round(crasher.slowestStart),
    drain_ms: Math.round(drainMs),
    seconds: Math.round((performance.now() - begin) / 1000),
    disk_mib: Math.round(await folderBytes(installation.dataDir) / 1_048_576),
  };
  const summary = Object.entries(numbers).map(([name, value]) => `${name}=${value}`).join(" ");
  return { findings, problems, summary };
}

function integrityProblems(path: string): string[] {
  using database = new DatabaseSync(path);
  const rows = database.prepare("pragma integrity_check").all();
  const first = String(rows[0]?.["integrity_check"]);
  return first === "ok" ? [] : [`${path}: ${first}`];
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile) bytes += (await Deno.stat(`${folder}/${name}`)).size;
  }
  return bytes;
}

import { DEFAULT_CONFIG } from "../src/interfaces/config.ts";
import type { Relayer } from "../src/relayer.ts";
import { createRelayer } from "../src/relayer.ts";
import { runMove } from "../src/program/move/command.ts";
import { configuredSources } from "../src/program/plugins.ts";
import { readSettings } from "../src/program/settings/mod.ts";
import { NO_POSTGRES, PostgresServer } from "../tests/postgres_server.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { sentence } from "./fill.ts";

const MEMORIES = 100_000;
const NAMESPACES = 10;
/** Memories of a request. */
const BATCH = 200;
/** Requests before the jobs are waited for. */
const AHEAD = 20;

type Settings = Readonly<Record<string, string>>;

async function opened(folder: DataFolder, env: Settings): Promise<Relayer> {
  const { settings } = readSettings(env);
  return await createRelayer({
    dataDir: settings.dataDir,
    relayerKey: folder.relayerKey,
    backends: await configuredSources(settings, env),
    config: {
      maxPendingJobs: 1_000_000,
      rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true },
    },
  });
}

/** Writes memories as whoever imports them does: with jobs, records and blobs. */
async function write(folder: DataFolder, note: (text: string) => void): Promise<void> {
  await using relayer = await opened(folder, folder.env(0));
  const client = await relayer.account("bench");
  const created_at = new Date().toISOString();
  const ids = crypto.randomUUID().slice(0, 24);
  for (let at = 0; at < MEMORIES; at += BATCH) {
    const lines = Array.from({ length: BATCH }, (_, i) => {
      const memory_id = ids + (at + i).toString(16).padStart(12, "0");
      const namespace = `n${Math.floor((at + i) * NAMESPACES / MEMORIES)}`;
      const text = sentence(at + i);
      return JSON.stringify({ type: "memory", memory_id, namespace, text, created_at, version: 1 });
    });
    await client.importMemories(`${lines.join("\n")}\n`);
    if (at / BATCH % AHEAD !== 0) continue;
    await relayer.idle();
    note(`written: ${at} of ${MEMORIES}`);
  }
  await relayer.idle();
}

/** Digest of everything that an export of all namespaces has, in whatever order. */
async function digest(folder: DataFolder, env: Settings): Promise<string> {
  await using relayer = await opened(folder, env);
  const client = await relayer.account("bench");
  const sum = new Uint8Array(32);
  let count = 0;
  for await (const { exported_at: _, ...line } of client.exportMemories()) {
    const bytes = new TextEncoder().encode(JSON.stringify(line));
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    for (const [i, byte] of hash.entries()) sum[i]! ^= byte;
    count++;
  }
  return `${count} ${sum.toHex()}`;
}

/** Runs the command; answers the seconds that it took. */
async function moved(env: Settings, ...args: readonly string[]): Promise<number> {
  const started = performance.now();
  let said = "";
  const say = (text: string) => void (said += text);
  const code = await runMove(args, { env, cwd: "/", write: say, writeError: say });
  if (code !== 0) throw new Error(said);
  return (performance.now() - started) / 1000;
}

/** A whole data directory to PostgreSQL, on the same machine, and back. */
export const movePart: Part = {
  name: "move",
  title: "move: 100,000 memories of one owner with jobs and blobs to PostgreSQL, and back",
  async run(note): Promise<Figure[]> {
    if (NO_POSTGRES !== undefined) {
      note(NO_POSTGRES);
      return [];
    }
    await using server = await PostgresServer.start();
    await using folder = await DataFolder.make();
    const here = { ...folder.env(0), SVC_DATABASE_URL: await server.database() };
    const [to, back] = [`${folder.path}/to`, `${folder.path}/back`];
    const there = { ...here, SVC_STORE: "postgres", SVC_DATA_DIR: to };
    await write(folder, note);
    const before = await digest(folder, here);
    note(`before: ${before}`);
    const seconds = [await moved(here, "--to", "postgres", "--folder", to)];
    const between = await digest(folder, there);
    note(`there: ${between}`);
    seconds.push(await moved(there, "--to", "local", "--folder", back));
    const after = await digest(folder, { ...here, SVC_DATA_DIR: back });
    note(`back: ${after}`);
    const isSame = before === between && before === after;
    return [
      { name: "to PostgreSQL", value: seconds[0]!, unit: "s" },
      { name: "back", value: seconds[1]!, unit: "s" },
      { name: "identical exports", value: isSame ? 1 : 0, unit: "", goal: { atLeast: 1 } },
    ];
  },
};

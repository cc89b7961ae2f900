import { fileURLToPath } from "node:url";
import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill } from "./fill.ts";
import { timeEach } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import { median } from "./statistics.ts";

const MEMORIES = 1000;
const SEARCHES = 200;
/** Recalls before those that count, about as long as the first tenth of theirs. */
const WARM_UP = 1000;
const PACKAGES = ["mem0ai@3.3.1", "better-sqlite3@12.11.1"];
const SCRIPT = fileURLToPath(new URL("./peers/mem0.mjs", import.meta.url));

async function output(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd })
    .output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  return new TextDecoder().decode(stdout);
}

/** Median milliseconds of a search of theirs, once its code is compiled. */
async function theirs(note: (text: string) => void): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "svc_bench_mem0_" });
  try {
    note("installing mem0ai, which compiles a database");
    await Deno.writeTextFile(`${folder}/package.json`, "{}");
    const flags = ["--no-fund", "--no-audit", "--legacy-peer-deps"];
    await output("npm", ["install", ...flags, ...PACKAGES], folder);
    note("searching with mem0ai");
    const args = [SCRIPT, folder, String(MEMORIES), String(SEARCHES)];
    const times: number[] = JSON.parse((await output("node", args, folder)).split("\n").at(-1)!);
    return median(times.slice(times.length / 10));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Median milliseconds of a recall: over HTTP, signature checked, hits decrypted, once its code is
 * compiled.
 */
async function ours(): Promise<number> {
  await using folder = await DataFolder.make();
  await fill(folder, { notes: MEMORIES });
  await using server = await startRelayer(folder);
  using connection = await Connection.open(server.port);
  const body = { query: "tea in Lisbon", namespace: "notes", limit: 10 };
  const requests = Array.from(
    { length: WARM_UP + 4 * SEARCHES },
    () => folder.key.request("POST", "/api/recall", body),
  );
  return median((await timeEach(connection, requests)).slice(WARM_UP));
}

/** A recall of ours next to a search of theirs. */
export const mem0Part: Part = {
  name: "mem0",
  title:
    `mem0: ${MEMORIES} memories, ours over HTTP with signature and decryption, theirs in process`,
  async run(note): Promise<Figure[]> {
    const [their, our] = [await theirs(note), await ours()];
    return [
      { name: "mem0ai, Memory.search, p50", value: their, unit: "ms" },
      { name: "svc, POST /api/recall, cached query, p50", value: our, unit: "ms" },
      { name: "theirs / ours", value: their / our, unit: "x", goal: { atLeast: 100 } },
    ];
  },
};

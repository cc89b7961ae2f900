import { fileURLToPath } from "node:url";
import { Connection } from "./connection.ts";
import { ALL_CORES, bindToCores } from "./cores.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill } from "./fill.ts";
import { timeEach } from "./load.ts";
import { linesOf } from "../tests/program.ts";
import { startRelayer } from "./relayer_process.ts";
import { median } from "./statistics.ts";

const MEMORIES = 1000;
/** Rounds in which they and we take turns: the machine has phases in which everything is slower. */
const ROUNDS = 5;
const SEARCHES = 40;
/** About as long as their searches: phases of a second would else be met or missed by chance. */
const RECALLS = 3000;
/** Recalls before the first round, until our code is compiled. */
const WARM_UP = 4000;
/** Part of a round that does not count: the other one had the processor's caches. */
const COLD = 1 / 10;
const PACKAGES = ["mem0ai@3.3.1", "better-sqlite3@12.11.1"];
const SCRIPT = fileURLToPath(new URL("./peers/mem0.mjs", import.meta.url));

async function output(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd })
    .output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  return new TextDecoder().decode(stdout);
}

/** Searches of theirs, in a process of its own. */
class Mem0 implements AsyncDisposable {
  readonly #folder: string;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncGenerator<string>;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#child = new Deno.Command("node", {
      args: [SCRIPT, folder, String(MEMORIES)],
      cwd: folder,
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout);
  }

  /** Installs it in a folder of its own and fills its store. */
  static async start(note: (text: string) => void): Promise<Mem0> {
    const folder = await Deno.makeTempDir({ prefix: "svc_bench_mem0_" });
    note("installing mem0ai, which compiles a database");
    await Deno.writeTextFile(`${folder}/package.json`, "{}");
    const flags = ["--no-fund", "--no-audit", "--legacy-peer-deps"];
    await output("npm", ["install", ...flags, ...PACKAGES], folder);
    const mem0 = new Mem0(folder);
    note("filling its store");
    await mem0.#line((line) => line === "ready");
    return mem0;
  }

  /** Milliseconds of so many searches. */
  async search(count: number): Promise<number[]> {
    await this.#input.write(new TextEncoder().encode(`${count}\n`));
    return JSON.parse(await this.#line((line) => line.startsWith("[")));
  }

  async #line(fits: (line: string) => boolean): Promise<string> {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done) throw new Error("mem0ai has ended");
      if (fits(value)) return value;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close().catch(() => undefined);
    await this.#child.status;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** What counts of a round. */
function counted(times: readonly number[]): readonly number[] {
  return times.slice(times.length * COLD);
}

/**
 * A recall of ours next to a search of theirs. Theirs is one thread, on a core that never rests. Ours
 * are two processes that wait for each other: on one core they take their time alone, on several also
 * that of waking a core, which a virtual machine may take a quarter of a recall for.
 */
export const mem0Part: Part = {
  name: "mem0",
  title:
    `mem0: ${MEMORIES} memories, ours over HTTP with signature and decryption, theirs in process`,
  async run(note): Promise<Figure[]> {
    await using mem0 = await Mem0.start(note);
    await using folder = await DataFolder.make();
    await fill(folder, { notes: MEMORIES });
    await using server = await startRelayer(folder);
    using connection = await Connection.open(server.port);
    const body = { query: "tea in Lisbon", namespace: "notes", limit: 10 };
    const recall = (count: number): Promise<number[]> => {
      const sign = () => folder.key.request("POST", "/api/recall", body);
      return timeEach(connection, Array.from({ length: count }, sign));
    };
    const bindTo = async (cores: string): Promise<boolean> =>
      await bindToCores(server.pid, cores) && await bindToCores(Deno.pid, cores);
    await Promise.all([mem0.search(SEARCHES), recall(WARM_UP)]);
    const [theirs, one, all]: [number[], number[], number[]] = [[], [], []];
    for (let round = 1; round <= ROUNDS; round++) {
      note(`round ${round} of ${ROUNDS}`);
      theirs.push(...counted(await mem0.search(SEARCHES)));
      if (await bindTo("0")) one.push(...counted(await recall(RECALLS)));
      await bindTo(ALL_CORES);
      all.push(...counted(await recall(RECALLS)));
    }
    const their = median(theirs);
    const figuresOn = (cores: string, ours: readonly number[]): Figure[] =>
      ours.length === 0 ? [] : [
        {
          name: `svc, POST /api/recall, cached query, ${cores}, p50`,
          value: median(ours),
          unit: "ms",
        },
        {
          name: `theirs / ours, ${cores}`,
          value: their / median(ours),
          unit: "x",
          goal: { atLeast: 100 },
        },
      ];
    return [
      { name: "mem0ai, Memory.search, p50", value: their, unit: "ms" },
      ...figuresOn("one core", one),
      ...figuresOn("all cores", all),
    ];
  },
};

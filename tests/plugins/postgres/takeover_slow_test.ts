import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseAddress, postgresJobStore } from "../../../plugins/postgres/mod.ts";
import { LOCKED } from "../../locked.ts";
import { NO_POSTGRES, PostgresServer } from "../../postgres_server.ts";
import { poll } from "../../within.ts";

const WORKER = fileURLToPath(new URL("./job_worker.ts", import.meta.url));
/** Numbers of the jobs of one process. */
const RANGE = 100_000;
/** Processes that are killed; in every fourth round the server crashes as well. */
const ROUNDS = 8;
/** What a process has said before it is killed: jobs that were accepted and ended. */
const LINES = 30;

/** A process that works on jobs, and says what became of them. */
class Worker {
  readonly #process: Deno.ChildProcess;
  readonly #read: Promise<void>;
  #output = "";

  constructor(url: string, number: number) {
    const args = ["run", "--no-check", "-A", ...LOCKED, WORKER];
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [...args, url, String(number * RANGE), String(number)],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#read = this.#follow(this.#process.stdout);
  }

  /** What it has said, line by line. */
  get #lines(): string[] {
    return this.#output.split("\n").slice(0, -1);
  }

  async #follow(output: ReadableStream<Uint8Array>): Promise<void> {
    const texts = output.pipeThrough(new TextDecoderStream() as TransformStream);
    for await (const text of texts) this.#output += text;
  }

  /** Waits until it is in the middle of its work. */
  async working(): Promise<void> {
    await poll(() => this.#lines.length, (lines) => lines >= LINES);
  }

  /** Ends it without a word, and answers what it said. */
  async kill(): Promise<string[]> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#read;
    return this.#lines;
  }
}

Deno.test({
  name: "jobs of killed processes are taken over, each is ended once, and none is lost",
  ignore: NO_POSTGRES !== undefined,
  async fn() {
    await using server = await PostgresServer.start({ options: ["fsync=on"] });
    const url = await server.database();
    const said: string[] = [];
    const workers: Worker[] = [];
    let made = 0;
    const start = () => workers.push(new Worker(url, made++));
    for (let i = 0; i < 3; i++) start();
    for (let round = 0; round < ROUNDS; round++) {
      await workers[0]!.working();
      said.push(...await workers.shift()!.kill());
      if (round % 4 === 2) await server.restart();
      start();
    }
    for (const worker of workers) said.push(...await worker.kill());

    await using store = await postgresJobStore({ address: parseAddress(url) });
    const idsOf = (word: string) =>
      said.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(" ")[1]!);
    const [accepted, ended] = [idsOf("accepted"), idsOf("ended")];
    assert.equal(new Set(ended).size, ended.length, "a job was ended twice");
    const unfinished = "select id::text as id from svc.job where ended_at is null";
    // What is left is taken over as soon as the last lease is over.
    await poll(async () => {
      for (const { job, lease } of await store.claim(500)) {
        const { payload: _, ...spec } = job;
        await store.end(lease, {
          ...spec,
          state: "done",
          attempts: 1,
          endedAt: Date.now(),
          recallable: true,
        });
      }
      return await server.run(url, unfinished);
    }, (left) => left.length === 0);
    const rows = await server.run<{ id: string }>(url, "select id::text as id from svc.job");
    const found = new Set(rows.map(({ id }) => id));
    assert.deepEqual(accepted.filter((id) => !found.has(id)), [], "accepted and lost");
    assert.ok(accepted.length > 50, `only ${accepted.length} were accepted`);
  },
});

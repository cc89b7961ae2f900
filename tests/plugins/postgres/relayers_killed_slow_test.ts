import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { SvcClient } from "../../../src/client/mod.ts";
import { pause } from "../../../src/deadline.ts";
import { makeOwners } from "../../cluster/owners.ts";
import { Person, randomOf } from "../../cluster/person.ts";
import { freePort } from "../../free_port.ts";
import { LOCKED } from "../../locked.ts";
import { NO_POSTGRES, PostgresServer } from "../../postgres_server.ts";
import { poll } from "../../within.ts";

const PROCESS = fileURLToPath(new URL("./relayer_process.ts", import.meta.url));
const RELAYERS = 3;
const OWNERS = 6;
const KILLS = Number(Deno.env.get("SVC_TEST_KILLS") ?? 6);
/** Calls that are answered before the next relayer is killed. */
const BETWEEN = 30;

const FROZEN_MS = 3_500;

/** A relayer in a process of its own, which is started again at the same port. */
class RelayerProcess {
  readonly port = freePort();
  readonly #url: string;
  #process: Deno.ChildProcess | undefined;
  #output: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async start(): Promise<void> {
    const args = ["run", "--no-check", "-A", "--unstable-kv", ...LOCKED, PROCESS];
    const process = this.#process = new Deno.Command(Deno.execPath(), {
      args: [...args, this.#url, String(this.port)],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#output = process.stdout.getReader();
    const { value } = await this.#output.read();
    assert.equal(new TextDecoder().decode(value), "ready\n");
  }

  /** Lets it stand still for longer than its leases last; it knows nothing of it. */
  async freeze(): Promise<void> {
    this.#process!.kill("SIGSTOP");
    await pause(FROZEN_MS);
    this.#process!.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.#process!.kill("SIGKILL");
    await this.#output!.cancel();
    await this.#process!.status;
  }
}

Deno.test({
  name:
    "relayers that are killed, or stand still, lose nothing, double nothing, bring nothing back",
  ignore: NO_POSTGRES !== undefined,
  async fn() {
    await using server = await PostgresServer.start({ options: ["fsync=on"] });
    const url = await server.database();
    const relayers = Array.from({ length: RELAYERS }, () => new RelayerProcess(url));
    const people = (await makeOwners(url, OWNERS)).map((key, i) => {
      const clients = relayers.map(({ port }) =>
        new SvcClient({ baseUrl: `http://127.0.0.1:${port}`, ...key, timeoutMs: 15_000 })
      );
      return new Person(`p${i}`, clients, randomOf(i + 1));
    });
    for (const relayer of relayers) await relayer.start();
    const working = new AbortController();
    const work = Promise.all(people.map(async (person) => {
      while (!working.signal.aborted) await person.step();
    }));
    work.catch(() => {});
    const answered = () => people.reduce((sum, { calls }) => sum + calls, 0);
    /** Resolves when everybody together was answered so often again. */
    const worked = async () => {
      const until = answered() + BETWEEN;
      await Promise.race([poll(answered, (calls) => calls >= until), work]);
    };
    try {
      const random = randomOf(4711);
      for (let kill = 0; kill < KILLS; kill++) {
        await worked();
        const relayer = relayers[Math.floor(random() * RELAYERS)]!;
        if (kill % 3 === 2) await relayer.freeze();
        else {
          await relayer.kill();
          await relayer.start();
        }
      }
      await worked();
      working.abort();
      await work;
      for (const person of people) await person.check();
    } finally {
      working.abort();
      for (const relayer of relayers) await relayer.kill();
    }
  },
});

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseAddress, postgresAccounts } from "../../../plugins/postgres/mod.ts";
import { SvcClient } from "../../../src/client/mod.ts";
import { pause } from "../../../src/deadline.ts";
import { SvcError } from "../../../src/errors.ts";
import { nodeSigner } from "../../../src/client/signer.ts";
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

/** Whether a call is tried again: nobody said whether it happened, or that it may be repeated. */
function isAgain(error: unknown): boolean {
  return !(error instanceof SvcError) || error.retryable || error.code === "internal_error";
}

/** An owner, whose next request goes to any relayer once the last one is answered. */
class Person {
  readonly #clients: readonly SvcClient[];
  readonly #random: () => number;
  /** Texts by memory, as they must be recalled. */
  readonly kept = new Map<string, string>();
  readonly #gone: string[] = [];
  #count = 0;
  readonly #name: string;
  calls = 0;

  constructor(name: string, clients: readonly SvcClient[], random: () => number) {
    this.#name = name;
    this.#clients = clients;
    this.#random = random;
  }

  /** Asks any relayer until one answers. */
  async ask<T>(call: (client: SvcClient) => Promise<T>): Promise<T> {
    const start = performance.now();
    for (;;) {
      try {
        const client = this.#clients[Math.floor(this.#random() * this.#clients.length)]!;
        const answer = await call(client);
        this.calls++;
        return answer;
      } catch (error) {
        if (!isAgain(error)) throw error;
        if (performance.now() - start > 30_000) throw error;
        await pause(20);
      }
    }
  }

  #text(): string {
    return `${this.#name} says number${this.#name}x${this.#count++}`;
  }

  async #found(text: string): Promise<string[]> {
    const { results } = await this.ask((client) =>
      client.recall(text.split(" ").at(-1)!, { mode: "keyword", limit: 5 })
    );
    return results.map((hit) => hit.text);
  }

  async step(): Promise<void> {
    const known = [...this.kept.keys()];
    const any = known[Math.floor(this.#random() * known.length)];
    const dice = this.#random();
    const idempotencyKey = crypto.randomUUID();
    if (any === undefined || dice < 0.5) {
      const text = this.#text();
      const { memory_id: id } = await this.ask((client) =>
        client.remember(text, {}, { idempotencyKey })
      );
      this.kept.set(id, text);
      assert.equal((await this.#found(text))[0], text, "what was accepted is found");
    } else if (dice < 0.65) {
      const text = this.#text();
      const before = this.kept.get(any)!;
      await this.ask((client) => client.updateMemory(any, { text }, { idempotencyKey }));
      this.kept.set(any, text);
      assert.equal((await this.#found(text))[0], text, "what was corrected is found");
      assert.ok(!(await this.#found(before)).includes(before), "what it replaced is not");
    } else if (dice < 0.8) {
      const before = this.kept.get(any)!;
      await this.ask((client) =>
        client.deleteMemory(any).catch((error) => {
          if (error?.code !== "memory_not_found") throw error;
        })
      );
      this.kept.delete(any);
      this.#gone.push(before);
      assert.ok(!(await this.#found(before)).includes(before), "what was deleted is not found");
    } else {
      const text = this.kept.get(any)!;
      assert.equal((await this.#found(text))[0], text, "what was said long ago is found");
    }
  }

  /** Everything that is there. */
  async all(): Promise<string[]> {
    const texts: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.ask((client) =>
        client.memories({ limit: 100, ...(cursor && { cursor }) })
      );
      texts.push(...page.memories.map((memory) => memory.text!));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return texts.sort();
  }
}

/** Random numbers that a seed repeats. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

Deno.test({
  name:
    "relayers that are killed, or stand still, lose nothing, double nothing, bring nothing back",
  ignore: NO_POSTGRES !== undefined,
  async fn() {
    await using server = await PostgresServer.start({ options: ["fsync=on"] });
    const url = await server.database();
    const people: Person[] = [];
    const relayers = Array.from({ length: RELAYERS }, () => new RelayerProcess(url));
    {
      await using accounts = await postgresAccounts({ address: parseAddress(url) });
      for (let i = 0; i < OWNERS; i++) {
        const privateKey = crypto.getRandomValues(new Uint8Array(32)).toHex();
        const owner = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
        const { accountId } = await accounts.admin.create(owner);
        const { publicKey } = nodeSigner(Uint8Array.fromHex(privateKey));
        await accounts.admin.addKey(accountId, {
          publicKey,
          label: "test",
          permissions: ["read", "write"],
        });
        const clients = relayers.map(({ port }) =>
          new SvcClient({
            baseUrl: `http://127.0.0.1:${port}`,
            privateKey,
            accountId,
            timeoutMs: 15_000,
          })
        );
        people.push(new Person(`p${i}`, clients, randomOf(i + 1)));
      }
    }
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
      for (const person of people) {
        assert.deepEqual(await person.all(), [...person.kept.values()].sort());
      }
    } finally {
      working.abort();
      for (const relayer of relayers) await relayer.kill();
    }
  },
});

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SvcClient } from "../../src/client/mod.ts";
import { BALANCERS, checkFile, missing, startBalancer } from "../balancers.ts";
import type { OwnerKey } from "../cluster/owners.ts";
import { Installation, type RunningRelayer } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { ROOT } from "../locked.ts";
import { NO_POSTGRES, PostgresServer } from "../postgres_server.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

const OWNERS = 4;
/** Longer than a balancer takes to notice. */
const DRAIN_SECONDS = 5;
/** Rounds of every owner before and after something happens. */
const ROUNDS = 3;
/** A checkout of an earlier version, whose relayers are replaced by this one's; this one when absent. */
const FORMER = Deno.env.get("SVC_TEST_FORMER");

/** Owners who remember and recall all the time; their clients repeat what failed and may be. */
class Load {
  readonly #clients: readonly SvcClient[];
  readonly #working = new AbortController();
  readonly #work: Promise<unknown>;
  readonly #rounds: number[];
  /** Answers that were failures, and requests without any. */
  readonly failures: string[] = [];

  constructor(base: string, keys: readonly OwnerKey[]) {
    const noting = async (url: string, init: RequestInit) => {
      const answer = await fetch(url, init).catch((error) => {
        this.failures.push(String(error));
        throw error;
      });
      if (!answer.ok) this.failures.push(`${answer.status} ${new URL(url).pathname}`);
      return answer;
    };
    this.#clients = keys.map((key) => new SvcClient({ baseUrl: base, fetch: noting, ...key }));
    this.#rounds = keys.map(() => 0);
    this.#work = Promise.all(this.#clients.map((_, i) => this.#live(i)));
    this.#work.catch(() => {});
  }

  async #live(i: number): Promise<void> {
    for (const client = this.#clients[i]!; !this.#working.signal.aborted; this.#rounds[i]!++) {
      const word = `number${i}x${crypto.randomUUID().slice(0, 8)}`;
      await client.remember(`I saw ${word}`);
      const { results } = await poll(
        () => client.recall(word, { mode: "keyword", limit: 1 }),
        ({ pending = 0 }) => pending === 0,
      );
      assert.equal(results[0]?.text, `I saw ${word}`, "what was accepted is found");
    }
  }

  /** Resolves when each owner has done some rounds more. */
  async goesOn(): Promise<void> {
    const until = this.#rounds.map((rounds) => rounds + ROUNDS);
    const isThere = () => this.#rounds.every((rounds, i) => rounds >= until[i]!);
    await Promise.race([poll(isThere, Boolean), this.#work]);
  }

  /** Ends it: each owner has what was accepted, and each memory once. */
  async end(): Promise<void> {
    this.#working.abort();
    await this.#work;
    for (const [i, client] of this.#clients.entries()) {
      const { memory_count: count } = await client.stats();
      assert.equal(count, this.#rounds[i]);
    }
  }
}

/** A session of MCP, as a client of the SDK opens it. */
async function session(base: string, { privateKey, accountId }: OwnerKey) {
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${privateKey}`, "x-svc-account-id": accountId };
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/api/mcp`), {
    requestInit: { headers },
  });
  await client.connect(transport);
  const id = transport.sessionId!;
  await client.close();
  return { id, headers };
}

/** Status of a request of a session: whether it is known there. */
async function listStatus(base: string, { id, headers }: Awaited<ReturnType<typeof session>>) {
  const answer = await fetch(`${base}/api/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": id,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await answer.text();
  return answer.status;
}

/** Sessions of either transport, opened at a relayer, are found through a balancer. */
async function sessionsAreFound(front: string, relayers: readonly string[], key: OwnerKey) {
  for (const [i, relayer] of relayers.entries()) {
    const opened = await session(relayer, key);
    assert.match(opened.id, new RegExp(`^relayer-${i + 1}\\.`));
    assert.equal(await listStatus(front, opened), 200);
    const { headers } = opened;
    const stream = await fetch(`${relayer}/api/mcp/sse`, { headers });
    const reader = stream.body!.getReader();
    const event = new TextDecoder().decode((await reader.read()).value);
    const posted = await fetch(front + /data: (\S+)/.exec(event)![1], {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    });
    await posted.body?.cancel();
    assert.equal(posted.status, 202);
    await reader.cancel();
  }
}

/** Both relayers, which have nothing in common but a database and the relayer key. */
async function startRelayers(stack: AsyncDisposableStack, url: string) {
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const keyFile = `${folder}/relayer.key`;
  await Deno.writeTextFile(keyFile, "07".repeat(32), { mode: 0o600 });
  const ports = [freePort(), freePort()] as const;
  const installations = await Promise.all(ports.map(async (port, i) =>
    stack.use(
      await Installation.create({
        SVC_STORE: "postgres",
        SVC_DATABASE_URL: url,
        SVC_RELAYER_KEY_FILE: keyFile,
        SVC_RELAYER_NAME: `relayer-${i + 1}`,
        // Of both balancers.
        SVC_ALLOWED_HOSTS: "127.0.0.1",
        SVC_DRAIN_SECONDS: String(DRAIN_SECONDS),
        SVC_EMBEDDER: "memory",
        SVC_PORT: String(port),
        MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "1000",
      }),
    )
  ));
  if (FORMER !== undefined) { for (const one of installations) one.folder = FORMER; }
  const running = await Promise.all(installations.map((installation) => installation.launch()));
  return {
    addresses: [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`] as const,
    relayers: installations.map((installation, i) => new Relayer(installation, running[i]!)),
    account: () => account(installations[0]!),
  };
}

/** An owner's account, made by the installation's program. */
async function account(installation: Installation): Promise<OwnerKey> {
  const { output } = await installation.run(["account", "create", "--json"]);
  const { account_id, private_key } = JSON.parse(output);
  return { accountId: account_id, privateKey: private_key };
}

/** A relayer that can be replaced by one of this version. */
class Relayer {
  readonly #installation: Installation;
  #running: RunningRelayer;

  constructor(installation: Installation, running: RunningRelayer) {
    this.#installation = installation;
    this.#running = running;
  }

  /** Stops it as an operator would. */
  async stop(): Promise<void> {
    assert.equal(await this.#running.stop(), 0);
  }

  /** Starts this version in its place. */
  async replace(): Promise<void> {
    this.#installation.folder = ROOT;
    this.#running = await this.#installation.launch();
  }

  crash(): Promise<void> {
    return this.#running.crash();
  }
}

/** Nobody listens there: a relayer that is not there yet. */
const nobody = `127.0.0.1:${freePort()}`;
const present = BALANCERS.filter((name) => missing(name) === undefined);

for (const name of BALANCERS) {
  Deno.test({
    name: `${name} finds nothing wrong in its file`,
    ignore: missing(name) !== undefined,
    async fn() {
      const relayers = ["127.0.0.1:8001", "127.0.0.1:8002", nobody] as const;
      const { success, said } = await checkFile(name, { front: "127.0.0.1:8443", relayers });
      assert.ok(success, said);
    },
  });
}

Deno.test({
  name: `behind ${present.join(" and ")}: an upgrade without a failure, a kill without a loss`,
  ignore: NO_POSTGRES !== undefined || present.length === 0,
  async fn() {
    verifies("9-24", "11-45", "15-52");
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await PostgresServer.start());
    const url = await server.database();
    const { addresses, relayers, account } = await startRelayers(stack, url);
    const [one, two] = addresses.map((address) => `http://${address}`) as [string, string];
    // One by one: the terminal's program is a process of its own.
    const people: OwnerKey[] = [];
    for (let i = 0; i < OWNERS; i++) people.push(await account());
    const key = people[0]!;
    const behind = await Promise.all(present.map(async (name, i) => {
      const front = `127.0.0.1:${freePort()}`;
      stack.use(await startBalancer(name, { front, relayers: [...addresses, nobody] }));
      const base = `http://${front}`;
      await sessionsAreFound(base, [one, two], key);
      const owners = people.filter((_, n) => n % present.length === i);
      return { base, load: new Load(base, owners) };
    }));
    const goesOn = () => Promise.all(behind.map(({ load }) => load.goesOn()));

    await goesOn();
    for (const [i, relayer] of relayers.entries()) {
      await relayer.stop();
      await goesOn();
      await relayer.replace();
      const back = await session([one, two][i]!, key);
      for (const { base } of behind) {
        await poll(() => listStatus(base, back), (status) => status === 200);
      }
      await goesOn();
    }
    for (const { load } of behind) assert.deepEqual(load.failures, [], "nobody noticed");

    const lost = await session(two, key);
    for (const { base } of behind) assert.equal(await listStatus(base, lost), 200);
    await relayers[1]!.crash();
    for (const { base } of behind) {
      // A connection that was kept open may have ended with the request on it, which is not sent again.
      const unknown = (status: number) => status !== 502;
      assert.equal(await poll(() => listStatus(base, lost), unknown), 404);
      assert.match((await session(base, key)).id, /^relayer-1\./);
    }
    await goesOn();
    for (const { load } of behind) await load.end();
  },
});

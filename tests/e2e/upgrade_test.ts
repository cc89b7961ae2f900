import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { startDevnet } from "../../devnet/mod.ts";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

const FOLDER = new URL("../testdata/upgrade/", import.meta.url);
const FACTS = [
  "I am allergic to peanuts",
  "Our cat is called Biscuit",
  "The spare key is under the blue flower pot",
];

/** Unpacks what an earlier version left in a home folder. */
async function unpack(name: string, home: string): Promise<void> {
  const archive = fileURLToPath(new URL(`${name}.tar.gz`, FOLDER));
  const { success, stderr } = await new Deno.Command("tar", {
    args: ["-xzf", archive, "-C", home, "--no-same-owner"],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

type Env = Readonly<Record<string, string>>;

/** A started program, and a client with what the earlier version saved. */
async function start(home: string, env: Env) {
  await using starting = new AsyncDisposableStack();
  const program = starting.use(new Program(["start"], { ...relayerEnv(home), ...env }));
  const { port } = await program.event("listening");
  const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
  const { delegatePrivateKey: privateKey = "", accountId = "" } = credentials ?? {};
  const url = `http://127.0.0.1:${port}`;
  const running = starting.move();
  return {
    url,
    client: new SvcClient({ baseUrl: url, privateKey, accountId }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function textsOf(client: SvcClient, namespace: string): Promise<(string | undefined)[]> {
  const { memories } = await client.memories({ namespace });
  return memories.map(({ text }) => text).sort();
}

/** What the export command writes with the key that the earlier version saved: texts by namespace. */
async function exported(home: string, url: string): Promise<Record<string, string[]>> {
  const path = `${home}/all.ndjson`;
  // The saved address has another port: whoever moves a relayer sends the key on purpose.
  const args = ["export", "--output", path, "--relayer", url, "--send-key"];
  await using command = new Program(args, { HOME: home });
  assert.equal(await command.end(), 0, command.errors.join("\n"));
  const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
  const memories = lines.filter(({ type }) => type === "memory");
  assert.equal(lines[0].type, "header");
  assert.deepEqual(lines.at(-1), { type: "end", memories: memories.length, errors: 0 });
  assert.equal(lines.length, memories.length + 2);
  const texts: Record<string, string[]> = {};
  for (const { namespace, text } of memories) (texts[namespace] ??= []).push(text);
  for (const each of Object.values(texts)) each.sort();
  return texts;
}

/** What an earlier version left, and what a program on it needs. */
interface Left {
  readonly name: string;
  /** Starts what the program depends on, and answers its settings. */
  readonly surroundings: (home: string) => Promise<AsyncDisposable & { readonly env: Env }>;
  /** What it holds beside the facts. */
  readonly more: readonly string[];
}

const alone = (env: Env): Left["surroundings"] => () =>
  Promise.resolve({ env, [Symbol.asyncDispose]: () => Promise.resolve() });

/** The development network with the chain and the blobs that were left, and a program on it. */
async function localnet(home: string) {
  const folder = `${home}/.svc/localnet`;
  const devnet = await startDevnet({ dataDir: `${folder}/network` });
  const env = {
    ...devnet.settings(),
    SVC_DATA_DIR: `${folder}/relayer`,
    SVC_RELAYER_KEY_FILE: `${folder}/relayer.key`,
    SVC_BLOB_BATCH_MS: "100",
  };
  return { env, [Symbol.asyncDispose]: () => devnet[Symbol.asyncDispose]() };
}

const CASES: readonly Left[] = [
  { name: "0.1.0_embedded", surroundings: alone({}), more: ["This one was accepted last"] },
  {
    name: "0.1.0_lancedb",
    surroundings: alone({ SVC_VECTOR_STORE: "lancedb" }),
    more: [],
  },
  { name: "0.1.0_localnet", surroundings: localnet, more: ["This one was accepted last"] },
];

for (const { name, surroundings, more } of CASES) {
  Deno.test(`a data directory of an earlier version opens, and goes on: ${name}`, async () => {
    verifies("18-4");
    await inHome(async (home) => {
      await unpack(name, home);
      await using around = await surroundings(home);
      const all = [...FACTS, ...more].sort();
      {
        await using running = await start(home, around.env);
        const { client, url } = running;
        for (const text of all) {
          const { results } = await client.recall(text);
          assert.equal(results[0]?.text, text);
        }
        assert.deepEqual(await textsOf(client, "default"), all);
        assert.deepEqual(await textsOf(client, "home"), ["Our boiler was serviced in March"]);
        assert.deepEqual(await textsOf(client, "gone"), []);
        await poll(
          async () => (await client.memories({ namespace: "default" })).memories,
          (memories) => memories.every(({ status }) => status === "done"),
        );
        assert.deepEqual(await exported(home, url), {
          default: all,
          home: ["Our boiler was serviced in March"],
        });
        const { job_id } = await client.remember("Written by this version");
        assert.equal((await client.waitFor(job_id, { until: "done" })).status, "done");
        const [first] = (await client.memories({ namespace: "home" })).memories;
        await client.deleteMemory(first!.memory_id);
      }
      await using again = await start(home, around.env);
      const { client, url } = again;
      const now = [...all, "Written by this version"].sort();
      assert.deepEqual(await textsOf(client, "default"), now);
      assert.deepEqual(await textsOf(client, "home"), []);
      assert.deepEqual(await exported(home, url), { default: now });
    });
  });
}

Deno.test("what an earlier version stored on Walrus is restored from the chain alone", async () => {
  verifies("18-4");
  await inHome(async (home) => {
    await unpack("0.1.0_localnet", home);
    await Deno.remove(`${home}/.svc/localnet/relayer`, { recursive: true });
    await using around = await localnet(home);
    await using running = await start(home, around.env);
    const { client, url } = running;
    assert.equal((await client.restore("default")).restored, FACTS.length);
    assert.equal((await client.restore("home")).restored, 1);
    // Its namespace was forgotten, which Walrus holds, too.
    assert.equal((await client.restore("gone")).restored, 0);
    assert.deepEqual(await exported(home, url), {
      default: FACTS.toSorted(),
      home: ["Our boiler was serviced in March"],
    });
  });
});

Deno.test("a data directory of a later version is refused, with the reason", async () => {
  verifies("18-5");
  await inHome(async (home) => {
    await unpack("0.1.0_embedded", home);
    const path = `${home}/.svc/relayer/core.db`;
    // As of this version, before a later one comes.
    new CoreDb(path)[Symbol.dispose]();
    const file = new DatabaseSync(path);
    file.exec("update meta set value = '99' where name = 'data_format'");
    file.close();
    await using program = new Program(["start"], relayerEnv(home));
    assert.notEqual(await program.end(), 0);
    const log = program.errors.join("\n");
    assert.match(
      log,
      /written by a later version of svc \(data format 99, this one reads up to 1\)/,
    );
  });
});

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";

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

/** A client with what the earlier version saved. */
async function clientOf(home: string, program: Program): Promise<SvcClient> {
  const { port } = await program.event("listening");
  const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
  const { delegatePrivateKey: privateKey = "", accountId = "" } = credentials ?? {};
  return new SvcClient({ baseUrl: `http://127.0.0.1:${port}`, privateKey, accountId });
}

async function textsOf(client: SvcClient, namespace: string): Promise<(string | undefined)[]> {
  const { memories } = await client.memories({ namespace });
  return memories.map(({ text }) => text).sort();
}

const CASES = [
  { name: "0.1.0_embedded", env: {}, more: ["This one was accepted last"] },
  { name: "0.1.0_lancedb", env: { SVC_VECTOR_STORE: "lancedb" }, more: [] },
] as const;

for (const { name, env: extra, more } of CASES) {
  Deno.test(`a data directory of an earlier version opens, and goes on: ${name}`, async () => {
    verifies("18-4");
    await inHome(async (home) => {
      await unpack(name, home);
      const env = { ...relayerEnv(home), SVC_EMBEDDER: "memory", ...extra };
      const all = [...FACTS, ...more].sort();
      {
        await using program = new Program(["start"], env);
        const client = await clientOf(home, program);
        for (const text of all) {
          const { results } = await client.recall(text);
          assert.equal(results[0]?.text, text);
        }
        assert.deepEqual(await textsOf(client, "default"), all);
        assert.deepEqual(await textsOf(client, "home"), ["Our boiler was serviced in March"]);
        assert.deepEqual(await textsOf(client, "gone"), []);
        const { job_id } = await client.remember("Written by this version");
        assert.equal((await client.waitFor(job_id, { until: "done" })).status, "done");
        const [first] = (await client.memories({ namespace: "home" })).memories;
        await client.deleteMemory(first!.memory_id);
      }
      await using again = new Program(["start"], env);
      const client = await clientOf(home, again);
      assert.deepEqual(
        await textsOf(client, "default"),
        [...all, "Written by this version"].sort(),
      );
      assert.deepEqual(await textsOf(client, "home"), []);
    });
  });
}

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

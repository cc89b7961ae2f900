import assert from "node:assert/strict";
import { CoreDb } from "../../src/storage/core_db.ts";
import { inHome, Program, relayerEnv } from "../program.ts";

const OWNER = "0x" + "ab".repeat(32);

async function json(home: string, ...args: string[]): Promise<Record<string, unknown>> {
  await using program = new Program(["account", ...args, "--json"], relayerEnv(home));
  assert.equal(await program.end(), 0, program.errors.join("\n"));
  return JSON.parse(await program.output);
}

Deno.test("the command works beside another connection that writes", async () => {
  await inHome(async (home) => {
    await json(home, "create");
    using core = new CoreDb(`${home}/.svc/relayer/core.db`);
    core.tombstones.addTombstones({ owner: OWNER, namespace: "default" }, ["a"], 1);
    const added = await json(home, "add-key");
    core.tombstones.addTombstones({ owner: OWNER, namespace: "default" }, ["b"], 1);
    const { accounts } = await json(home, "list");
    assert.ok(JSON.stringify(accounts).includes(String(added.public_key)));
  });
});

Deno.test("the command works while the relayer runs", async () => {
  await inHome(async (home) => {
    const env = relayerEnv(home);
    await using relayer = new Program(["serve"], env);
    const { port } = await relayer.event("listening");
    const args = ["account", "create", "--save", "--json"];
    const url = `http://127.0.0.1:${port}`;
    await using create = new Program(args, { ...env, SVC_PUBLIC_URL: url });
    assert.equal(await create.end(), 0, create.errors.join("\n"));
    await using status = new Program(["status", "--json"], env);
    assert.equal(await status.end(), 0, status.errors.join("\n"));
    const { account_id } = JSON.parse(await create.output);
    assert.ok((await status.output).includes(account_id));
  });
});

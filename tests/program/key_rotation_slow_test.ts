import assert from "node:assert/strict";
import { keyFromHex } from "../../src/sealing/key_file.ts";
import { openDataKey } from "../../src/sealing/data_key.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { keysThatOpen } from "../../src/storage/core/key_slot_table.ts";
import { freePort } from "../free_port.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { poll } from "../within.ts";

const TEXT = "The spare key hangs behind the blue door";

/** Runs a command to its end. */
async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  await using program = new Program(args, env);
  const code = await program.end();
  return { code, out: await program.output, errors: program.errors.join("\n") };
}

async function finds(env: Readonly<Record<string, string>>): Promise<void> {
  const { out, errors } = await run(["recall", "where is the spare key?"], env);
  assert.match(out, /behind the blue door/, errors);
}

const envOf = (home: string) => ({
  ...relayerEnv(home),
  SVC_PORT: String(freePort()),
  SVC_FIRST_ACCOUNT: "true",
});

const keyIn = async (home: string) =>
  new RelayerKey(keyFromHex((await Deno.readTextFile(`${home}/.svc/relayer.key`)).trim(), "it"));

Deno.test("a relayer goes on while its key is changed, and starts again with the new one", async () => {
  await inHome(async (home) => {
    const env = envOf(home);
    await using program = new Program(["start"], env);
    await program.event("listening");
    assert.equal((await run(["remember", TEXT], env)).code, 0);
    const before = await keyIn(home);
    const backup = await run(["backup", "--json"], env);
    assert.equal(backup.code, 0, backup.errors);

    const changed = await run(["key", "rotate", "--keep-old", `${home}/old.key`, "--json"], env);
    assert.equal(changed.code, 0, changed.errors);
    assert.equal(JSON.parse(changed.out).old_key_shut_out, false);
    assert.notEqual((await keyIn(home)).fingerprint(), before.fingerprint());
    assert.equal((await Deno.readTextFile(`${home}/old.key`)).trim(), before.reveal());
    await finds(env);

    const second = await keyIn(home);
    const once = await run(["key", "rotate", "--json"], env);
    assert.equal(JSON.parse(once.out).old_key_shut_out, true);
    await finds(env);

    // The relayer dies: its launcher starts it with the key of now.
    const { pid } = program.errors.map((line) => JSON.parse(line))
      .find(({ event, process }) => event === "child process started" && process === "relayer");
    Deno.kill(pid, "SIGKILL");
    await program.event("listening");
    await finds(env);
    assert.equal((await run(["backup"], env)).code, 0);
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);

    // A key of before is refused, and the new one fits.
    const doctor = await run(["doctor"], env);
    assert.match(doctor.out, /it fits the data directory/);
    const next = await Deno.readTextFile(`${home}/.svc/relayer.key`);
    await Deno.writeTextFile(`${home}/.svc/relayer.key`, second.reveal());
    const refused = await run(["start"], env);
    assert.equal(refused.code, 78);
    assert.match(refused.errors, /belongs to another relayer key/);
    await Deno.writeTextFile(`${home}/.svc/relayer.key`, next);
  });
});

Deno.test("whatever ends a change of the key, the data opens with the key in the file", async () => {
  await inHome(async (home) => {
    const env = envOf(home);
    const started = async (work: () => Promise<void>) => {
      await using program = new Program(["start"], env);
      await program.event("listening");
      await work();
      program.kill("SIGTERM");
      await program.end();
    };
    await started(async () => {
      assert.equal((await run(["remember", TEXT], env)).code, 0);
    });
    const file = `${home}/.svc/relayer.key`;
    const core = `${home}/.svc/relayer/core.db`;
    const inFile = () => Deno.readTextFile(file);
    const letIn = () => Promise.resolve(keysThatOpen(core).join());
    for (const look of [letIn, inFile, letIn, inFile]) {
      const before = await look();
      await using program = new Program(["key", "rotate"], env);
      await poll(look, (now) => now !== before);
      program.kill("SIGKILL");
      await program.end();
      using db = new CoreDb(core);
      openDataKey(db, await keyIn(home));
    }
    await started(() => finds(env));
  });
});

Deno.test("the next passphrase opens the data before and after the file was changed", async () => {
  await inHome(async (home) => {
    const passphrase = `${home}/passphrase`;
    const env = {
      ...envOf(home),
      SVC_RELAYER_KEY_PASSPHRASE_FILE: passphrase,
    };
    await Deno.writeTextFile(passphrase, "the first passphrase\n", { mode: 0o600 });
    await Deno.writeTextFile(`${home}/next`, "the second passphrase\n", { mode: 0o600 });
    const started = async (work: () => Promise<unknown>) => {
      await using program = new Program(["start"], env);
      await program.event("listening");
      await work();
      program.kill("SIGTERM");
      await program.end();
    };
    await started(() => run(["remember", TEXT], env));
    const usage = await run(["key", "rotate"], env);
    assert.equal(usage.code, 2);
    assert.match(usage.errors, /name the next one with --next/);
    const changed = await run(["key", "rotate", "--next", `${home}/next`], env);
    assert.equal(changed.code, 0, changed.errors);
    await started(() => finds(env));
    await Deno.copyFile(`${home}/next`, passphrase);
    await started(() => finds(env));
    // The first one is what the data is sealed under.
    await Deno.writeTextFile(passphrase, "the first passphrase\n");
    await started(() => finds(env));
  });
});

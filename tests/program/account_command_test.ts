import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { makeDelegateKey } from "../../src/client/mod.ts";
import { seedOfRecoveryWords } from "../../src/client/recovery_words.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { parseAccountOptions } from "../../src/program/commands/account_options.ts";
import { UsageError } from "../../src/program/commands/io.ts";
import { runAccount } from "../../src/program/commands/account.ts";
import { SvcError } from "../../src/errors.ts";
import { inHome } from "../program.ts";

const OWNER = "0x" + "ab".repeat(32);

async function ownerOf(words: string): Promise<string> {
  const seed = await seedOfRecoveryWords(words);
  assert.ok(seed, "these are no recovery words");
  return (await makeDelegateKey(seed)).address;
}

/** Runs a command; what is typed into it comes last, behind `<`. */
async function run(home: string, ...given: string[]) {
  const [output, errors]: [string[], string[]] = [[], []];
  const at = given.indexOf("<");
  const [args, typed] = at < 0 ? [given, []] : [given.slice(0, at), given.slice(at + 1)];
  const code = await runAccount(args, {
    env: { HOME: home },
    cwd: home,
    stdin: new Blob(typed).stream(),
    write: (text) => output.push(text),
    writeError: (text) => errors.push(text),
  });
  return { code, output: output.join(""), errors: errors.join("") };
}

async function json(home: string, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, output, errors } = await run(home, args[0]!, "--json", ...args.slice(1));
  assert.equal(code, 0, errors);
  return JSON.parse(output);
}

Deno.test("create makes a key, and saves it where it is asked to", async () => {
  await inHome(async (home) => {
    const shown = await json(home, "create");
    const { privateKey, publicKey } = await makeDelegateKey(
      Uint8Array.fromHex(String(shown.private_key)),
    );
    assert.deepEqual([shown.private_key, shown.public_key], [privateKey, publicKey]);
    assert.equal(shown.owner, await ownerOf(String(shown.recovery_words)));

    const saved = await json(home, "create", "--save", "--label", "Laptop");
    const path = `${home}/.svc/credentials.json`;
    assert.equal(saved.saved_to, path);
    assert.equal(saved.private_key, undefined);
    assert.equal(saved.package_id, shown.package_id);
    const { credentials } = await readCredentials(path);
    assert.equal(credentials?.accountId, saved.account_id);
    assert.equal(credentials?.walletAddress, saved.owner);
    assert.equal(credentials?.relayerUrl, "http://127.0.0.1:8000");
    assert.equal(credentials?.label, "Laptop");

    const again = await run(home, "create", "--save");
    assert.equal(again.code, 1);
    assert.match(again.errors, /holds the key of account 0x.*--force replaces it/);
    assert.equal((await readCredentials(path)).credentials?.accountId, saved.account_id);
    assert.notEqual((await json(home, "create", "--save", "--force")).account_id, saved.account_id);
  });
});

Deno.test("recovery words let a new key in, and are kept nowhere", async () => {
  await inHome(async (home) => {
    const { output } = await run(home, "create", "--save");
    const words = /^ {2}((?:[a-z]+ ){11}[a-z]+)$/m.exec(output)?.[1] ?? "";
    const owner = await ownerOf(words);
    for await (const { name } of Deno.readDir(`${home}/.svc/relayer`)) {
      const bytes = await Deno.readFile(`${home}/.svc/relayer/${name}`);
      assert.ok(!new TextDecoder("latin1").decode(bytes).includes(words.slice(0, 20)), name);
    }
    const saved = await Deno.readTextFile(`${home}/.svc/credentials.json`);
    assert.ok(!saved.includes(words));
    await json(home, "create"); // Another account does not come between.

    await Deno.remove(`${home}/.svc/credentials.json`);
    const back = await json(home, "recover", "--save", "<", `${words.toUpperCase()}\n`);
    assert.deepEqual([back.owner, back.recovery_words], [owner, undefined]);
    const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
    assert.deepEqual([credentials?.accountId, credentials?.walletAddress], [
      back.account_id,
      owner,
    ]);
    const other = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    assert.match((await run(home, "recover", "<", other)).errors, /belongs to these words/);
    for (const typed of ["", "one two three", `${words} more`]) {
      const { code, errors } = await run(home, "recover", "<", typed);
      assert.equal(code, 1);
      assert.match(errors, /no recovery words/);
      assert.ok(!errors.includes(words));
    }
  });
});

Deno.test("a given key is registered for a given owner", async () => {
  await inHome(async (home) => {
    const { publicKey } = await makeDelegateKey();
    const created = await json(
      home,
      ...["create", "--public-key", publicKey, "--owner", OWNER],
      ...["--permissions", "read", "--expires-in", "2d"],
    );
    assert.equal(created.owner, OWNER);
    assert.deepEqual(created.permissions, ["read"]);
    const days = (Date.parse(String(created.expires_at)) - Date.now()) / 86_400_000;
    assert.ok(days > 1.9 && days <= 2);
    using core = new CoreDb(`${home}/.svc/relayer/core.db`);
    assert.equal(created.package_id, core.packageId());

    const more = await json(home, "add-key", "--only", "work", "--only", "notes/");
    assert.deepEqual(more.namespaces, ["work", "notes/"]);
    assert.match((await run(home, "list")).output, /\(read, write, manage, only work, notes\/\)/);

    assert.match((await run(home, "create", "--owner", OWNER)).errors, /account_exists/);
    assert.match((await run(home, "create", "--public-key", publicKey)).errors, /key_exists/);
  });
});

Deno.test("keys are added, listed and removed", async () => {
  await inHome(async (home) => {
    assert.match((await run(home, "list")).output, /no account yet/);
    assert.match((await run(home, "add-key")).errors, /no account yet/);
    const first = await json(home, "create");
    const second = await json(home, "add-key", "--label", "Phone");
    assert.equal(second.account_id, first.account_id);
    const listed = (await run(home, "list")).output;
    assert.ok(listed.includes(String(first.public_key)) && listed.includes("Phone"));

    assert.equal((await run(home, "remove-key", "--public-key", String(first.public_key))).code, 0);
    const { accounts } = await json(home, "list");
    assert.ok(JSON.stringify(accounts).includes(String(second.public_key)));
    assert.ok(!JSON.stringify(accounts).includes(String(first.public_key)));
    const gone = await run(home, "remove-key", "--public-key", String(first.public_key), "--json");
    assert.deepEqual(JSON.parse(gone.errors).code, "not_found");

    await json(home, "create");
    assert.match((await run(home, "add-key")).errors, /2 accounts: say which with --account/);
    const chosen = await json(home, "add-key", "--account", String(first.account_id));
    assert.equal(chosen.account_id, first.account_id);

    assert.match((await run(home, "remove-all-keys")).errors, /say which with --account/);
    const all = ["remove-all-keys", "--account", String(first.account_id)];
    const { accounts: [emptied] } = await json(home, ...all) as { accounts: { keys: unknown[] }[] };
    assert.deepEqual(emptied?.keys, []);
    assert.equal((await run(home, "remove-all-keys", ...all.slice(1))).code, 0);
  });
});

Deno.test("a command line that breaks a rule is explained", async () => {
  const usage = [
    [],
    ["make"],
    ["create", "--colour"],
    ["create", "--save", "--public-key", "ab".repeat(32)],
    ["list", "--save"],
    ["remove-key"],
    ["remove-all-keys", "--public-key", "ab".repeat(32)],
    ["remove-all-keys", "--save"],
    ["recover", "--owner", OWNER],
  ];
  for (const args of usage) assert.throws(() => parseAccountOptions(args), UsageError);
  const invalid = [
    ["create", "--public-key", "00".repeat(32)],
    ["create", "--public-key", "xy"],
    ["create", "--owner", "0x12"],
    ["create", "--label", ""],
    ["create", "--label", "é".repeat(33)],
    ["create", "--permissions", "admin"],
    ["create", "--expires-in", "soon"],
  ];
  for (const args of invalid) assert.throws(() => parseAccountOptions(args), SvcError);
  await inHome(async (home) => {
    assert.equal((await run(home)).code, 2);
    assert.equal((await run(home, "create", "--colour")).code, 2);
    const { code, errors } = await run(home, "create", `--${"ab".repeat(32)}`);
    assert.deepEqual([code, errors.split("\n")[0]], [2, "Unknown flag"]);
    assert.equal((await run(home, "--help")).code, 0);
    assert.equal((await run(home, "create", "--owner", "0x12")).code, 1);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
  });
});

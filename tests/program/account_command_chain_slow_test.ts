import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { runAccount } from "../../src/program/commands/account.ts";
import { inHome } from "../program.ts";
import { OnDevnet } from "../plugins/sui/accounts/on_devnet.ts";

type Env = Record<string, string>;

async function run(env: Env, ...args: string[]) {
  const [output, errors]: [string[], string[]] = [[], []];
  const code = await runAccount(args, {
    env,
    cwd: env["HOME"]!,
    write: (text) => output.push(text),
    writeError: (text) => errors.push(text),
  });
  return { code, output: output.join(""), errors: errors.join("") };
}

async function json(env: Env, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, output, errors } = await run(env, ...args, "--json");
  assert.equal(code, 0, errors);
  return JSON.parse(output);
}

async function onDevnet(test: (env: Env, chain: OnDevnet) => Promise<void>): Promise<void> {
  await inHome(async (home) => {
    await using chain = await OnDevnet.start();
    const { rpcUrl, packageId, registryId } = chain.devnet;
    await test({
      HOME: home,
      SVC_ACCOUNTS: "sui",
      SVC_SUI_RPC_URL: rpcUrl,
      SVC_PACKAGE_ID: packageId,
      SVC_REGISTRY_ID: registryId,
    }, chain);
  });
}

Deno.test("an owner's wallet makes an account on chain, adds keys and removes them", async () => {
  await onDevnet(async (env, chain) => {
    const home = env["HOME"]!;
    const owner = await chain.wallet();
    await Deno.writeTextFile(`${home}/wallet`, `${owner.getSecretKey()}\n`, { mode: 0o600 });
    const wallet = ["--wallet-file", "wallet"];
    const created = await json(env, "create", "--save", "--label", "Desk", ...wallet);
    assert.equal(created["owner"], owner.toSuiAddress());
    assert.equal(created["package_id"], chain.devnet.packageId);
    const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
    assert.equal(credentials?.accountId, created["account_id"]);
    const account = await chain.accounts.resolve(credentials?.delegatePublicKeyHex ?? "");
    assert.equal(account?.accountId, created["account_id"]);
    assert.equal(account?.keys[0]?.label, "Desk");

    assert.match((await run(env, "create", ...wallet)).errors, /account_exists/);
    const args = ["--permissions", "read", "--expires-in", "2d"];
    const added = await json(env, "add-key", ...args, ...wallet);
    assert.deepEqual(added["permissions"], ["read"]);
    const id = String(created["account_id"]);
    const only = ["--only", "work", "--only", "notes/", "--label", "Ada"];
    const bound = await json(env, "add-key", ...only, ...wallet);
    assert.deepEqual(bound["namespaces"], ["work", "notes/"]);
    assert.match((await run(env, "list", ...wallet)).output, /Ada.*, only work, notes\//);
    const boundKey = ["--public-key", String(bound["public_key"])];
    assert.equal((await run(env, "remove-key", ...boundKey, ...wallet)).code, 0);
    for (const which of [["--account", id], ["--owner", owner.toSuiAddress()], wallet]) {
      const { accounts } = await json(env, "list", ...which);
      assert.ok(JSON.stringify(accounts).includes(String(added["public_key"])));
    }
    const key = ["--public-key", String(added["public_key"])];
    assert.equal((await run(env, "remove-key", ...key, ...wallet)).code, 0);
    assert.match((await run(env, "remove-key", ...key, ...wallet)).errors, /not_found/);
    assert.equal((await chain.accounts.get(id))?.keys.length, 1);

    const stranger = await chain.wallet();
    await Deno.writeTextFile(`${home}/stranger`, stranger.getSecretKey(), { mode: 0o600 });
    const own = ["--public-key", credentials?.delegatePublicKeyHex ?? ""];
    const refused = await run(env, "remove-key", ...own, "--wallet-file", "stranger");
    assert.match(refused.errors, /not the account's owner \(code: permission_denied\)/);
  });
});

Deno.test("without a wallet the command says who changes accounts on chain", async () => {
  await onDevnet(async (env, chain) => {
    const home = env["HOME"]!;
    for (const args of [["create"], ["add-key"], ["remove-key", "--public-key", "ab".repeat(32)]]) {
      const { code, errors } = await run(env, ...args);
      assert.equal(code, 1);
      assert.match(errors, /on chain.*dashboard.*--wallet-file/);
    }
    assert.match((await run(env, "list")).errors, /say which with --account/);
    assert.match((await run(env, "create", "--wallet-file", "none")).errors, /no such file/);
    await Deno.writeTextFile(`${home}/bad`, "hello", { mode: 0o600 });
    assert.match((await run(env, "create", "--wallet-file", "bad")).errors, /must hold an Ed25519/);
    await Deno.writeTextFile(`${home}/poor`, "7".repeat(64), { mode: 0o600 });
    const poor = await run(env, "create", "--wallet-file", "poor");
    assert.match(poor.errors, /needs SUI for gas/);
    const foreign = ["create", "--public-key", "ab".repeat(32), "--wallet-file", "poor"];
    assert.match((await run(env, ...foreign)).errors, /leave out --public-key/);
    chain.devnet.faults.set("chain", { kind: "down" });
    const down = await run(env, "list", "--owner", "0x" + "7".repeat(64));
    assert.match(down.errors, /chain_unavailable/);
    assert.match(
      (await run({ HOME: home }, "list", "--wallet-file", "poor")).errors,
      /for accounts on chain/,
    );
  });
});

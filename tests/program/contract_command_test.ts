import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { runContract } from "../../src/program/commands/contract.ts";
import type { Publisher } from "../../src/program/commands/contract.ts";
import { compileContract, readContract } from "../../src/program/commands/contract_compiler.ts";
import {
  type ContractTarget,
  parseContractOptions,
  walletSeed,
} from "../../src/program/commands/contract_options.ts";
import { UsageError } from "../../src/program/commands/io.ts";
import { SvcError } from "../../src/errors.ts";
import { formatPrivateKey } from "../../src/wire/signing/private_key.ts";
import { inHome } from "../program.ts";

const SEED = new Uint8Array(32).fill(7);
const ID = (byte: string) => "0x" + byte.repeat(32);

/** A chain on which everything works, and what it was asked. */
class FakePublisher implements Publisher {
  publications: Parameters<Publisher["publish"]>[0][] = [];
  checked = 0;
  differences: Awaited<ReturnType<Publisher["check"]>>["differences"] = [];

  check(modules: readonly Uint8Array[]) {
    this.checked = modules.length;
    return Promise.resolve({ checked: 29, differences: this.differences });
  }

  publish(publication: Parameters<Publisher["publish"]>[0]) {
    this.publications.push(publication);
    publication.announce?.("Digest");
    return Promise.resolve({
      packageId: ID("aa"),
      registryId: ID("bb"),
      upgradeCapId: publication.burnUpgradeCap ? undefined : ID("cc"),
      sender: ID("dd"),
      digest: "Digest",
    });
  }
}

async function run(publisher: Publisher, env: Record<string, string>, ...args: string[]) {
  const [output, errors]: [string[], string[]] = [[], []];
  const targets: ContractTarget[] = [];
  const io = {
    env,
    cwd: "/",
    write: (text: string) => output.push(text),
    writeError: (text: string) => errors.push(text),
  };
  const code = await runContract(args, io, (target) => {
    targets.push(target);
    return Promise.resolve(publisher);
  });
  return { code, output: output.join(""), errors: errors.join(""), targets };
}

Deno.test("publish compiles, checks, publishes and says what to set", async () => {
  const publisher = new FakePublisher();
  const env = {
    SVC_SUI_NETWORK: "testnet",
    SVC_SUI_RPC_URL: "http://127.0.0.1:9/",
    SVC_SUI_PRIVATE_KEYS: `${formatPrivateKey(SEED)}, ${formatPrivateKey(SEED)}`,
    SVC_ACCOUNTS: "sui",
  };
  const { code, output, errors, targets } = await run(publisher, env, "publish");
  strictEqual(code, 0, errors);
  deepStrictEqual(targets, [{ network: "testnet", rpcUrl: "http://127.0.0.1:9" }]);
  strictEqual(publisher.checked, 4);
  const { modules, dependencies, seed, burnUpgradeCap } = publisher.publications[0]!;
  deepStrictEqual([modules.length, dependencies.length, burnUpgradeCap], [4, 2, false]);
  deepStrictEqual(seed, SEED);
  match(output, new RegExp(`^SVC_PACKAGE_ID=${ID("aa")}\nSVC_REGISTRY_ID=${ID("bb")}$`, "m"));
  match(output, new RegExp(`upgrade cap  ${ID("cc")}`));
  match(output, /Burn it with 0x2::package::make_immutable/);
  strictEqual(errors, "Sending transaction Digest\n");
  ok(!output.includes("suiprivkey"));
});

Deno.test("a key file pays, the cap is burned, and machines can read the answer", async () => {
  await inHome(async (home) => {
    const path = `${home}/wallet.key`;
    await Deno.writeTextFile(path, `${formatPrivateKey(SEED)}\n`, { mode: 0o600 });
    const publisher = new FakePublisher();
    const flags = ["--key-file", path, "--burn-upgrade-cap", "--json"];
    const { code, output, errors } = await run(publisher, {}, "publish", ...flags);
    deepStrictEqual([code, errors], [0, ""]);
    const { package_digest, module_bytes, ...answer } = JSON.parse(output);
    deepStrictEqual(answer, {
      network: "localnet",
      imports_checked: 29,
      published: true,
      package_id: ID("aa"),
      registry_id: ID("bb"),
      upgrade_cap_id: null,
      sender: ID("dd"),
      transaction: "Digest",
    });
    match(package_digest, /^[0-9a-f]{64}$/);
    strictEqual(module_bytes.length, 4);
    strictEqual(publisher.publications[0]?.burnUpgradeCap, true);
  });
});

Deno.test("a dry run needs no wallet and publishes nothing", async () => {
  const publisher = new FakePublisher();
  const { code, output } = await run(publisher, {}, "publish", "--dry-run");
  deepStrictEqual([code, publisher.checked, publisher.publications], [0, 4, []]);
  match(output, /^Nothing was published\n/);
  match(output, /29 functions compared, none differs/);
});

Deno.test("nothing is published where the framework differs", async () => {
  const publisher = new FakePublisher();
  const target = `0x${"0".repeat(63)}2::object::id`;
  publisher.differences = [
    { target, expected: "public (): u64", found: "public (): u8" },
    { target: `${target}_x`, expected: "public (): bool", found: undefined },
  ];
  const env = { SVC_SUI_PRIVATE_KEYS: SEED.toHex() };
  const { code, output, errors } = await run(publisher, env, "publish");
  deepStrictEqual([code, output, publisher.publications], [1, "", []]);
  match(errors, /nothing was published \(code: invalid_transaction\)/);
  match(
    errors,
    /0x2::object::id\n {4}contract {2}public \(\): u64\n {4}network {3}public \(\): u8/,
  );
  match(errors, /0x2::object::id_x\n.*\n {4}network {3}has no such function/);
  const json = await run(publisher, env, "publish", "--json");
  deepStrictEqual(JSON.parse(json.errors).differences, [
    { function: target, expected: "public (): u64", found: "public (): u8" },
    { function: `${target}_x`, expected: "public (): bool", found: null },
  ]);
});

Deno.test("a missing wallet, a wrong one and wrong settings are told before any work", async () => {
  const publisher = new FakePublisher();
  const failures: readonly (readonly [Record<string, string>, string[], RegExp])[] = [
    [{}, [], /wallet that pays is needed: --key-file, or SVC_SUI_PRIVATE_KEYS/],
    [{ SVC_SUI_PRIVATE_KEYS: "nonsense" }, [], /SVC_SUI_PRIVATE_KEYS must begin with an Ed25519/],
    [{}, ["--key-file", "/nowhere/key"], /There is no file \/nowhere\/key/],
    [{ SVC_SUI_NETWORK: "moon" }, [], /SVC_SUI_NETWORK must be one of/],
  ];
  for (const [env, flags, text] of failures) {
    const { code, errors, targets } = await run(publisher, env, "publish", ...flags);
    deepStrictEqual([code, targets], [1, []]);
    match(errors, text);
    ok(!errors.includes("nonsense"));
  }
});

Deno.test("usage errors are told with the usage", async () => {
  const publisher = new FakePublisher();
  deepStrictEqual((await run(publisher, {})).code, 2);
  strictEqual((await run(publisher, {}, "--help")).code, 0);
  for (const args of [["upgrade"], ["publish", "twice"], ["publish", "--force"], ["--json"]]) {
    throws(() => parseContractOptions(args), UsageError);
    const { code, errors } = await run(publisher, {}, ...args);
    strictEqual(code, 2);
    match(errors, /Usage: svc contract publish/);
  }
});

Deno.test("a private key typed at the wrong place is not repeated", async () => {
  const publisher = new FakePublisher();
  const key = formatPrivateKey(SEED);
  const words = [
    ["publish", key],
    [key],
    ["publish", `--${key}`],
    ["publish", "--dry-run", `--json=${key}`],
    ["publish", "--key-file", key],
    ["publish", "--key-file", `keys/${key}`],
    ["publish", "--key-file", SEED.toHex()],
    ["publish", "--key-file", `0x${SEED.toHex()} `],
  ];
  for (const args of words) {
    const { code, output, errors } = await run(publisher, {}, ...args);
    ok(code > 0);
    ok(!(output + errors).includes(key.slice(12)) && !errors.includes(SEED.toHex()), errors);
  }
});

Deno.test("a node cannot write to the terminal", async () => {
  const publisher = new FakePublisher();
  const text = "\x1b[2J\u009b31m\u202e\r";
  publisher.differences = [{ target: "0x2::a::b", expected: "public ()", found: `p${text}q` }];
  const differs = await run(publisher, {}, "publish", "--dry-run");
  match(differs.errors, /network {3}p\\u\{1b\}\[2J\\u\{9b\}31m\\u\{202e\}↵q\n/);
  publisher.check = () => Promise.reject(new SvcError("invalid_transaction", `p${text}q`));
  const failed = await run(publisher, {}, "publish", "--dry-run");
  match(failed.errors, /^p\\u\{1b\}\[2J\\u\{9b\}31m\\u\{202e\}\\u\{d\}q \(code/);
});

Deno.test("an error of the chain is told with its code", async () => {
  const publisher = new FakePublisher();
  publisher.check = () => Promise.reject(new SvcError("chain_unavailable"));
  const { code, errors } = await run(publisher, {}, "publish", "--dry-run", "--json");
  strictEqual(code, 1);
  deepStrictEqual(JSON.parse(errors), {
    error: "The chain cannot be reached",
    code: "chain_unavailable",
  });
});

Deno.test("the key of another scheme is refused", async () => {
  // suiprivkey of a secp256k1 key: scheme flag 01.
  const other = "suiprivkey1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszhmzn7h";
  const options = parseContractOptions(["publish"]);
  await rejects(walletSeed(options, { SVC_SUI_PRIVATE_KEYS: other }, "/"), /Ed25519/);
});

Deno.test("the compiler reports what it cannot compile, and takes nothing from a network", async () => {
  const sources = await readContract(new URL("../../contracts/", import.meta.url));
  const broken = { ...sources.contract, "sources/broken.move": "module svc::broken { fun f( }" };
  await rejects(compileContract({ ...sources, contract: broken }), /does not compile:[^]*broken/);
  const manifest = sources.contract["Move.toml"] +
    `\n[dependencies]\nOther = { git = "https://example.com/x.git", subdir = "other", rev = "1" }\n`;
  const foreign = { ...sources.contract, "Move.toml": manifest };
  await rejects(compileContract({ ...sources, contract: foreign }), /may not depend on other/);
  await rejects(readContract(new URL("file:///nowhere/")), /run this from a checkout/);
});

import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { type GrpcTypes, RpcError, SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { Faults } from "../../devnet/faults.ts";
import { listen } from "../../devnet/http_server.ts";
import { CallCounts } from "../../devnet/parts.ts";
import { Chain } from "../../devnet/sui/chain.ts";
import { SUI_TYPE } from "../../devnet/sui/coin.ts";
import { installFramework } from "../../devnet/sui/framework.ts";
import { installPublishing } from "../../devnet/sui/publish.ts";
import { grpcWeb } from "../../devnet/sui/rpc/grpc_web.ts";
import { inProcessTransport } from "../../devnet/sui/rpc/in_process.ts";
import { ChainNode } from "../../devnet/sui/rpc/node.ts";
import { ownerFieldId } from "../../plugins/sui/chain/account_object.ts";
import { importedFunctions } from "../../plugins/sui/chain/contract/imports.ts";
import { ContractPublisher } from "../../plugins/sui/chain/contract/publisher.ts";
import { runContract } from "../../src/program/commands/contract.ts";
import type { Publisher } from "../../src/program/commands/contract.ts";
import { compileContract, readContract } from "../../src/program/commands/contract_compiler.ts";

const SEED = new Uint8Array(32).fill(9);
const WALLET = Ed25519Keypair.fromSecretKey(SEED);
const SENDER = WALLET.toSuiAddress();
const { modules, dependencies } = await compileContract(
  await readContract(new URL("../../contracts/", import.meta.url)),
);

/** A chain with the framework, and a wallet that has SUI. */
class Net {
  readonly chain = new Chain();
  readonly calls = new CallCounts();
  readonly node = new ChainNode(this.chain, new Faults(), this.calls);
  readonly client = new SuiGrpcClient({
    network: "localnet",
    transport: inProcessTransport(this.node),
  });
  /** Fits the command. */
  readonly publisher: Publisher = new ContractPublisher(this.client);

  constructor(sui = 100_000_000_000n) {
    installFramework(this.chain);
    installPublishing(this.chain);
    if (sui > 0n) this.chain.mint(SENDER, SUI_TYPE, sui);
  }

  publish(burnUpgradeCap = false) {
    return this.publisher.publish({ modules, dependencies, seed: SEED, burnUpgradeCap });
  }
}

Deno.test("what the contract imports is there, with these signatures", async () => {
  const imports = importedFunctions(modules);
  const names = imports.map(({ packageId, module, name }) =>
    `${packageId.replace(/^0x0+/, "0x")}::${module}::${name}`
  );
  strictEqual(new Set(names).size, names.length);
  ok(names.every((name) => /^0x[12]::/.test(name)), "nothing but the framework is imported");
  const exists = imports.find(({ name }) => name === "exists_");
  strictEqual(
    exists?.signature.replace(/0x0+2/, "0x2"),
    "public <T0: copy + drop + store>(&0x2::object::UID, T0): bool",
  );
  deepStrictEqual(await new Net().publisher.check(modules), {
    checked: names.length,
    differences: [],
  });
});

Deno.test("every way in which a network's function can differ is found", async () => {
  const net = new Net();
  const imports = importedFunctions(modules);
  const change = (name: string, edit: (descriptor: GrpcTypes.FunctionDescriptor) => void) => {
    const { packageId, module } = imports.find((one) => one.name === name)!;
    edit(net.chain.functions.get(packageId, module, name)!.descriptor!);
    return name;
  };
  const changed = [
    change("sender", (it) => it.visibility = 3),
    change("exists_", (it) => it.typeParameters[0]?.constraints.pop()),
    change("share_object", (it) => it.typeParameters = []),
    change("length", (it) => it.parameters[0]!.reference = 2),
    change("timestamp_ms", (it) => it.returns[0]!.body!.type = 4),
    change("blake2b256", (it) => it.parameters.push(it.parameters[0]!)),
    change("id_to_bytes", (it) => it.parameters[0]!.body!.typeName = "0x2::object::UID"),
    change("none", (it) => it.returns[0]!.body!.typeParameterInstantiation = []),
  ];
  const { differences } = await net.publisher.check(modules);
  deepStrictEqual(
    differences.map(({ target }) => target.split("::").at(-1)).sort(),
    changed.sort(),
  );
  const length = differences.find(({ target }) => target.endsWith("::length"));
  match(length?.expected ?? "", /^public \(&0x0+1::string::String\): u64$/);
  match(length?.found ?? "", /^public \(&mut 0x0+1::string::String\): u64$/);
});

Deno.test("a function that the network does not have is a difference, a dead node is not", async () => {
  const client = new Net().client;
  const { getFunction } = client.movePackageService;
  const service = client.movePackageService;
  const fail = (code: string): typeof getFunction => (input, options) => {
    const call = getFunction.call(service, input, options);
    call.response.catch(() => {});
    return Object.assign(Object.create(call), {
      response: Promise.reject(new RpcError("no", code)),
    });
  };
  service.getFunction = fail("NOT_FOUND");
  const { checked, differences } = await new ContractPublisher(client).check(modules);
  strictEqual(differences.length, checked);
  ok(differences.every(({ found }) => found === undefined));
  service.getFunction = fail("UNAVAILABLE");
  await rejects(new ContractPublisher(client).check(modules), { code: "chain_unavailable" });
});

Deno.test("a published package has a registry, and its functions work", async () => {
  const { client, publisher } = new Net();
  const published = await publisher.publish({
    modules,
    dependencies,
    seed: SEED,
    burnUpgradeCap: false,
  });
  const { packageId, registryId, upgradeCapId, sender } = published;
  strictEqual(sender, SENDER);
  const { objects } = await client.core.getObjects({ objectIds: [registryId, upgradeCapId ?? ""] });
  deepStrictEqual(
    objects.map((object) => object instanceof Error ? object.message : object.type),
    [`${packageId}::account::Registry`, `0x${"0".repeat(63)}2::package::UpgradeCap`],
  );
  const transaction = new Transaction();
  transaction.moveCall({
    target: `${packageId}::account::create_account`,
    arguments: [transaction.object(registryId), transaction.object.clock()],
  });
  const result = await client.core.signAndExecuteTransaction({ transaction, signer: WALLET });
  strictEqual(result.$kind, "Transaction");
  const objectId = ownerFieldId(registryId, packageId, SENDER);
  strictEqual((await client.core.getObject({ objectId })).object.objectId, objectId);
});

Deno.test("a burned upgrade cap is gone", async () => {
  const net = new Net();
  const { upgradeCapId } = await net.publish(true);
  strictEqual(upgradeCapId, undefined);
  const owned = net.chain.objects.ownedBy(SENDER).filter(({ type }) => /UpgradeCap/.test(type));
  deepStrictEqual(owned, []);
});

Deno.test("an answer that got lost is looked up, and nothing is sent twice", async () => {
  const net = new Net();
  const execute = net.client.core.executeTransaction.bind(net.client.core);
  let sent = 0;
  net.client.core.executeTransaction = async (options) => {
    sent++;
    await execute(options);
    throw new RpcError("the connection broke", "UNAVAILABLE");
  };
  const { packageId } = await net.publish();
  match(packageId, /^0x[0-9a-f]{64}$/);
  strictEqual(sent, 1);
});

Deno.test("a transaction whose fate is unknown is named", async () => {
  const net = new Net();
  let sent = 0;
  const announced: string[] = [];
  net.client.core.executeTransaction = () => {
    strictEqual(announced.length, 1);
    sent++;
    return Promise.reject(new RpcError("the connection broke", "UNAVAILABLE"));
  };
  net.client.core.waitForTransaction = () => Promise.reject(new Error("not found in time"));
  const announce = (digest: string) => void announced.push(digest);
  const publication = { modules, dependencies, seed: SEED, burnUpgradeCap: false, announce };
  await rejects(net.publisher.publish(publication), (error: Error & { code?: string }) => {
    strictEqual(error.code, "chain_unavailable");
    match(error.message, /not known whether the package was published: look transaction \w{40,}/);
    ok(error.message.includes(announced[0] ?? "none"));
    return true;
  });
  strictEqual(sent, 1);
});

Deno.test("a wallet without SUI is told so, and nothing is sent", async () => {
  const net = new Net(0n);
  await rejects(net.publish(), { code: "invalid_transaction", message: /has the wallet 0x/ });
  strictEqual(net.calls.all.get("chain/ExecuteTransaction"), undefined);
});

Deno.test("modules that are none are refused", async () => {
  const { publisher } = new Net();
  const broken = { modules: [new Uint8Array(9)], dependencies, seed: SEED, burnUpgradeCap: false };
  await rejects(publisher.publish(broken), { code: "invalid_transaction" });
});

Deno.test("the command publishes through a socket", async () => {
  const net = new Net();
  await using server = await listen(0, async (request) => {
    return await grpcWeb(net.node, request) ?? new Response("not found", { status: 404 });
  });
  const env = {
    SVC_SUI_RPC_URL: `http://127.0.0.1:${server.port}`,
    SVC_SUI_PRIVATE_KEYS: WALLET.getSecretKey(),
  };
  const [output, errors]: [string[], string[]] = [[], []];
  const run = (...args: string[]) =>
    runContract(["publish", "--json", ...args], {
      env,
      cwd: "/",
      write: (text) => output.push(text),
      writeError: (text) => errors.push(text),
    });
  strictEqual(await run("--dry-run"), 0, errors.join(""));
  strictEqual(net.calls.all.get("chain/ExecuteTransaction"), undefined);
  strictEqual(await run(), 0, errors.join(""));
  const { package_id: packageId, registry_id: registryId } = JSON.parse(output.at(-1) ?? "");
  const registry = net.chain.object(registryId);
  strictEqual(registry?.type, `${packageId}::account::Registry`);
});

import { match, ok, rejects, strictEqual } from "node:assert/strict";
import { type GrpcTypes, RpcError, SuiGrpcClient } from "@mysten/sui/grpc";
import type { SuiClientTypes } from "@mysten/sui/client";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { toBase58 } from "@mysten/sui/utils";
import { Faults } from "../../devnet/faults.ts";
import { CallCounts } from "../../devnet/parts.ts";
import { Chain } from "../../devnet/sui/chain.ts";
import { SUI_TYPE } from "../../devnet/sui/coin.ts";
import { installFramework } from "../../devnet/sui/framework.ts";
import { installPublishing } from "../../devnet/sui/publish.ts";
import { inProcessTransport } from "../../devnet/sui/rpc/in_process.ts";
import { ChainNode } from "../../devnet/sui/rpc/node.ts";
import { createdIds } from "../../plugins/sui/chain/contract/publisher.ts";
import { importedFunctions } from "../../plugins/sui/chain/contract/imports.ts";
import { ContractPublisher } from "../../plugins/sui/chain/contract/publisher.ts";
import { compileContract, readContract } from "../../src/program/commands/contract_compiler.ts";
import { scenarioId } from "./vectors.ts";

const MAINNET = "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S";
const TESTNET = "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD";
const SEED = new Uint8Array(32).fill(9);
const { modules, dependencies } = await compileContract(
  await readContract(new URL("../../contracts/", import.meta.url)),
);

type Answer = SuiClientTypes.TransactionResult<{ effects: true; objectTypes: true }>;

/** A chain whose node can be made to lie. */
class LyingNode {
  readonly chain = new Chain();
  readonly calls = new CallCounts();
  readonly client: SuiGrpcClient;

  constructor(network: "mainnet" | "testnet" | "localnet" = "localnet") {
    const node = new ChainNode(this.chain, new Faults(), this.calls);
    this.client = new SuiGrpcClient({ network, transport: inProcessTransport(node) });
    installFramework(this.chain);
    installPublishing(this.chain);
    const sender = Ed25519Keypair.fromSecretKey(SEED).toSuiAddress();
    this.chain.mint(sender, SUI_TYPE, 100_000_000_000n);
  }

  /** Whether a transaction was sent. */
  get isSent(): boolean {
    return this.calls.all.get("chain/ExecuteTransaction") !== undefined;
  }

  isOfChain(chainId: string): void {
    const service = this.client.ledgerService;
    const answer = service.getServiceInfo.bind(service);
    service.getServiceInfo = (input, options) => {
      const call = answer(input, options);
      const response = call.response.then((info) => ({ ...info, chainId }));
      return Object.assign(Object.create(call), { response });
    };
  }

  /** Edits what the node says about the transaction. */
  says(edit: (answer: Answer) => void): void {
    const wait = this.client.core.waitForTransaction.bind(this.client.core);
    this.client.core.waitForTransaction = async (options) => {
      const answer = await wait(options);
      // The answer to one caller, who asks for this.
      edit(answer as unknown as Answer);
      return answer;
    };
  }

  check() {
    return new ContractPublisher(this.client).check(modules);
  }

  publish(burnUpgradeCap = false) {
    const publisher = new ContractPublisher(this.client);
    return publisher.publish({ modules, dependencies, seed: SEED, burnUpgradeCap });
  }
}

Deno.test("ids of created objects are the Move VM's", () => {
  // Digest of the scenario's transaction 1: the number, little-endian.
  const digest = toBase58(Uint8Array.from({ length: 32 }, (_, i) => i === 0 ? 1 : 0));
  strictEqual(createdIds(digest, 1)[0], scenarioId(1));
});

Deno.test("a node of another network than the settings' is told before anything is sent", async () => {
  const cases = [
    ["localnet", MAINNET, /is localnet, but the node is of mainnet/],
    ["localnet", TESTNET, /is localnet, but the node is of testnet/],
    ["testnet", MAINNET, /is testnet, but the node is of mainnet/],
    ["mainnet", TESTNET, /is mainnet, but the node is of testnet/],
    ["mainnet", "", /is mainnet, but the node is of another chain/],
  ] as const;
  for (const [network, chainId, message] of cases) {
    const net = new LyingNode(network);
    net.isOfChain(chainId);
    await rejects(net.check(), { code: "invalid_parameter", message });
    strictEqual(net.calls.all.get("chain/GetFunction"), undefined);
  }
  for (const [network, chainId] of [["mainnet", MAINNET], ["testnet", TESTNET]] as const) {
    const net = new LyingNode(network);
    net.isOfChain(chainId);
    strictEqual((await net.check()).differences.length, 0);
  }
});

Deno.test("a package that the transaction cannot have made is not believed", async () => {
  for (const state of ["PackageWrite", "ObjectWrite"]) {
    const net = new LyingNode();
    const other = "0x" + "66".repeat(32);
    net.says(({ Transaction }) => {
      const objects = Transaction?.effects?.changedObjects ?? [];
      const index = objects.findIndex((one) =>
        one.idOperation === "Created" && one.outputState === state
      );
      ok(index >= 0);
      objects[index] = { ...objects[index]!, objectId: other };
    });
    await rejects(net.publish(), {
      code: "invalid_transaction",
      message: /What the node says about transaction \w{40,} cannot be what it made/,
    });
  }
});

Deno.test("an upgrade cap that is kept from us is not taken for a burned one", async () => {
  const net = new LyingNode();
  net.says(({ Transaction }) => {
    for (const [id, type] of Object.entries(Transaction?.objectTypes ?? {})) {
      if (type.endsWith("UpgradeCap")) delete Transaction?.objectTypes?.[id];
    }
  });
  await rejects(net.publish(), { code: "invalid_transaction" });
});

Deno.test("a gas budget that empties the wallet is not signed", async () => {
  const net = new LyingNode();
  const service = net.client.transactionExecutionService;
  const simulate = service.simulateTransaction.bind(service);
  service.simulateTransaction = (input, options) => {
    const call = simulate(input, options);
    const response = call.response.then((answer) => {
      const payment = answer.transaction?.transaction?.gasPayment;
      if (payment !== undefined) payment.budget = 90_000_000_000n;
      return answer;
    });
    return Object.assign(Object.create(call), { response });
  };
  await rejects(net.publish(), {
    code: "invalid_transaction",
    message: /gas budget of 90000000000 MIST/,
  });
  strictEqual(net.isSent, false);
});

Deno.test("a node that goes away while the transaction is built is not a lack of SUI", async () => {
  const net = new LyingNode();
  net.client.transactionExecutionService.simulateTransaction = () => {
    throw new RpcError("gone", "UNAVAILABLE");
  };
  await rejects(net.publish(), { code: "chain_unavailable" });
});

Deno.test("a signature that makes no sense is a difference", async () => {
  const net = new LyingNode();
  const { packageId, module, name } = importedFunctions(modules)
    .find((one) => one.name === "id_to_bytes")!;
  const body: GrpcTypes.OpenSignatureBody | undefined = net.chain.functions
    .get(packageId, module, name)?.descriptor?.parameters[0]?.body;
  body!.typeName = "<<<::";
  const { differences } = await net.check();
  strictEqual(differences.length, 1);
  match(differences[0]?.found ?? "", /cannot be read/);
});

import { ok } from "node:assert/strict";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Transaction } from "@mysten/sui/transactions";
import { type Devnet, startDevnet } from "../../../../devnet/mod.ts";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { SuiAccounts } from "../../../../plugins/sui/accounts/accounts.ts";
import { addDelegateKey, createAccount } from "../../../../plugins/sui/accounts/transactions.ts";
import type { Permission } from "../../../../src/interfaces/mod.ts";
import { keyProofText } from "../../../../src/wire/signing/signing.ts";
import { TestKey } from "../../../relayer_fixture.ts";

/** A contract on a devnet, and the accounts the plugin sees there. */
export class OnDevnet implements AsyncDisposable {
  readonly client: SuiGrpcClient;
  readonly accounts: SuiAccounts;
  readonly deployment: { readonly packageId: string; readonly registry: string };

  constructor(readonly devnet: Devnet, timeoutMs: number) {
    const { packageId, registryId, rpcUrl } = devnet;
    this.deployment = { packageId, registry: registryId };
    this.client = openSui({ network: "localnet", url: rpcUrl, timeoutMs });
    this.accounts = new SuiAccounts({
      client: this.client,
      packageId,
      registryId,
      watch: { settleMs: 5, backoffMs: 5, maxBackoffMs: 20 },
      breaker: { pauseMs: 1, maxPauseMs: 2 },
    });
  }

  static async start(timeoutMs = 10_000): Promise<OnDevnet> {
    return new OnDevnet(await startDevnet(), timeoutMs);
  }

  /** A wallet with gas. */
  async wallet(): Promise<Ed25519Keypair> {
    const wallet = new Ed25519Keypair();
    await this.devnet.fund(wallet.toSuiAddress());
    return wallet;
  }

  /** Signs and executes. */
  async execute(signer: Ed25519Keypair, transaction: Transaction): Promise<void> {
    const result = await this.client.signAndExecuteTransaction({ transaction, signer });
    ok(result.$kind === "Transaction", "the transaction failed");
  }

  /** An owner's account. */
  async account(owner: Ed25519Keypair): Promise<string> {
    await this.execute(owner, createAccount(this.deployment));
    return (await this.accounts.ofOwner(owner.toSuiAddress()))!.accountId;
  }

  /** A key of an account. */
  async key(
    owner: Ed25519Keypair,
    accountId: string,
    permissions: readonly Permission[] = ["read"],
    namespaces?: readonly string[],
  ): Promise<TestKey> {
    const key = new TestKey();
    const { publicKey } = key;
    const proof = key.sign(keyProofText(accountId));
    const added = { publicKey, proof, permissions, label: "Laptop", namespaces };
    await this.execute(owner, addDelegateKey(this.deployment, accountId, added));
    return key;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.accounts[Symbol.asyncDispose]();
    await this.devnet[Symbol.asyncDispose]();
  }
}

import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { type Devnet, startDevnet } from "../../devnet/mod.ts";
import { keyProofText } from "../../src/wire/signing/signing.ts";

/** How a client reaches the node. */
export type Route = "in process" | "over HTTP";

/** Both ways, for tests that must pass on each. */
export const ROUTES: readonly Route[] = ["in process", "over HTTP"];

/** An unmodified client of a devnet. */
export function clientOf(devnet: Devnet, route: Route = "in process"): SuiGrpcClient {
  return route === "in process"
    ? new SuiGrpcClient({ network: "localnet", transport: devnet.transport() })
    : new SuiGrpcClient({ network: "localnet", baseUrl: devnet.rpcUrl });
}

/** A devnet with small parts, and a funded owner. */
export async function startWithOwner(
  options: Parameters<typeof startDevnet>[0] = {},
): Promise<{ devnet: Devnet; owner: Ed25519Keypair }> {
  const devnet = await startDevnet({ keyServers: 1, shards: 10, ...options });
  const owner = keypair(1);
  await devnet.fund(owner.toSuiAddress());
  return { devnet, owner };
}

/** A key pair that is the same in every run. */
export function keypair(number: number): Ed25519Keypair {
  return Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(number));
}

/** Signs and executes what `fill` adds to a transaction. */
export async function send(
  client: SuiGrpcClient,
  signer: Ed25519Keypair,
  fill: (tx: Transaction) => void,
) {
  const transaction = new Transaction();
  transaction.setSender(signer.toSuiAddress());
  fill(transaction);
  return await client.signAndExecuteTransaction({
    transaction,
    signer,
    include: { effects: true, objectTypes: true, events: true, balanceChanges: true },
  });
}

/** Creates an account; returns its id. */
export async function createAccount(
  client: SuiGrpcClient,
  { packageId, registryId }: Devnet,
  owner: Ed25519Keypair,
): Promise<string> {
  const result = await send(client, owner, (tx) => {
    tx.moveCall({
      target: `${packageId}::account::create_account`,
      arguments: [tx.object(registryId), tx.object.clock()],
    });
  });
  const types = result.Transaction?.objectTypes ?? {};
  const found = Object.entries(types).find(([, type]) => type.endsWith("::account::SvcAccount"));
  if (found === undefined) throw new Error(`no account: ${JSON.stringify(result.$kind)}`);
  return found[0];
}

/** Adds a call that lists a delegate key, with its proof. */
export async function addKeyCall(
  { packageId, registryId }: Devnet,
  accountId: string,
  key: Ed25519Keypair,
  proofFor: string = accountId,
): Promise<(tx: Transaction) => void> {
  const proof = await key.sign(keyProofText(proofFor));
  return (tx) =>
    tx.moveCall({
      target: `${packageId}::account::add_delegate_key`,
      arguments: [
        tx.object(registryId),
        tx.object(accountId),
        tx.pure.vector("u8", key.getPublicKey().toRawBytes()),
        tx.pure.vector("u8", proof),
        tx.pure.u8(3),
        tx.pure.u64(0),
        tx.pure.string("laptop"),
        tx.object.clock(),
      ],
    });
}

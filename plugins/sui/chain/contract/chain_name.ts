import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { SvcError } from "../../../../src/errors.ts";

/** Digests of the first checkpoints of the public networks (`GetServiceInfo.chain_id`). */
const GENESIS: ReadonlyMap<string, string> = new Map([
  ["mainnet", "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"],
  ["testnet", "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD"],
]);

/**
 * Checks that a node is of the network that its client is named after. `localnet` is any chain that
 * is not public.
 *
 * @throws {SvcError} `invalid_parameter` when it is of another one, `chain_unavailable`.
 */
export async function assertChain(client: SuiGrpcClient): Promise<void> {
  let chainId: string;
  try {
    const { response } = await client.ledgerService.getServiceInfo({});
    chainId = response.chainId ?? "";
  } catch (cause) {
    throw new SvcError("chain_unavailable", undefined, { cause });
  }
  const name = [...GENESIS].find(([, digest]) => digest === chainId)?.[0];
  const expected = GENESIS.has(client.network) ? client.network : undefined;
  if (name === expected) return;
  const text = `SVC_SUI_NETWORK is ${client.network}, but the node is of ` +
    (name ?? "another chain than mainnet and testnet");
  throw new SvcError("invalid_parameter", text);
}

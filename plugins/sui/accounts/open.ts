import type { AccountRegistry } from "../../../src/interfaces/mod.ts";
import { rpcUrlOf, type SuiNetwork } from "../../../src/wire/networks.ts";
import { openSui } from "../chain/sui_client.ts";
import { suiAccounts } from "./accounts.ts";

/** Longest wait for a node: a request that waits for it must not wait for long. */
const TIMEOUT_MS = 5_000;
/** Fifty accounts full of keys are a fifth of it. */
const MAX_BYTES = 1024 * 1024;

/** Options of {@linkcode suiAccountRegistry}. */
export interface SuiAccountRegistryOptions {
  /** Name of the chain. */
  readonly network: SuiNetwork;
  /** Address of a node that speaks gRPC-web; the network's public one when absent or empty. */
  readonly rpcUrl?: string | undefined;
  /** First version of the package: the one its types are named by. */
  readonly packageId: string;
  /** Its registry. */
  readonly registryId: string;
  /** Notes for the operator; never addresses or keys. */
  readonly log?: (message: string) => void;
}

/** A registry whose accounts are on chain. It asks for nothing before it is asked. */
export function suiAccountRegistry(
  { network, rpcUrl, packageId, registryId, log = () => {} }: SuiAccountRegistryOptions,
): AccountRegistry {
  const url = rpcUrlOf({ network, rpcUrl });
  const client = openSui({ network, url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  return suiAccounts({ client, packageId, registryId, log });
}

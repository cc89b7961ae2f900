import type { AccountRegistry } from "../../../src/interfaces/mod.ts";
import { rpcUrlOf, type SuiNetwork } from "../../../src/wire/networks.ts";
import { openSui } from "../chain/sui_client.ts";
import { SuiAccounts } from "./accounts.ts";

/** Longest wait for a node in milliseconds; requests of callers wait for it. */
const TIMEOUT_MS = 5_000;
/**
 * Most bytes of an answer. Fifty accounts full of keys have a fifth of it, one whose keys are bound to
 * as much as they can a sixth; what is larger together is asked for in parts.
 */
const MAX_BYTES = 1024 * 1024;

/** Where the accounts are. */
export interface SuiAccountRegistryOptions {
  /** Network of the node. */
  readonly network: SuiNetwork;
  /** Address of a node that speaks gRPC-web; the network's public one when absent or empty. */
  readonly rpcUrl?: string | undefined;
  /** First version of the contract's package, which names its types. */
  readonly packageId: string;
  /** Id of the contract's shared registry. */
  readonly registryId: string;
  /** Takes notes for the operator, which contain no addresses or keys. */
  readonly log?: (message: string) => void;
}

/** A registry whose accounts are on chain. It contacts no node before the first call. */
export function suiAccountRegistry(
  { network, rpcUrl, packageId, registryId, log = () => {} }: SuiAccountRegistryOptions,
): AccountRegistry {
  const url = rpcUrlOf({ network, rpcUrl });
  const client = openSui({ network, url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  return new SuiAccounts({ client, packageId, registryId, log });
}

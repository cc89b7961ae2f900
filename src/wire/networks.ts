/** Networks of the chain by their name in the settings. */
export type SuiNetwork = "mainnet" | "testnet" | "localnet";

/** Public nodes that speak gRPC; `localnet` is the development network of this repository. */
export const NODES: Readonly<Record<SuiNetwork, string>> = {
  mainnet: "https://fullnode.mainnet.sui.io:443",
  testnet: "https://fullnode.testnet.sui.io:443",
  localnet: "http://127.0.0.1:9100",
};

/** Address of the node: the configured one, else the network's public one. */
export function rpcUrlOf(
  { network, rpcUrl }: { readonly network: SuiNetwork; readonly rpcUrl?: string | undefined },
): string {
  return rpcUrl || NODES[network];
}

import type { Devnet } from "./mod.ts";

/** Settings (`SVC_*`) of a program that runs on a devnet: everything networked is on. */
export function settingsOf(devnet: Devnet): Record<string, string> {
  const { walrus, wallets, keyServers } = devnet;
  const servers = keyServers.map(({ objectId, url, isCommittee }) => ({
    objectId,
    weight: 1,
    ...(isCommittee ? { aggregatorUrl: url } : {}),
  }));
  return {
    SVC_SUI_NETWORK: "localnet",
    SVC_SUI_RPC_URL: devnet.rpcUrl,
    SVC_PACKAGE_ID: devnet.packageId,
    SVC_REGISTRY_ID: devnet.registryId,
    SVC_ACCOUNTS: "sui",
    SVC_CIPHER: "seal",
    SVC_SEAL_SERVER_CONFIGS: JSON.stringify(servers),
    SVC_SEAL_THRESHOLD: String(Math.min(2, servers.length)),
    SVC_BLOB_STORE: "walrus",
    SVC_SUI_PRIVATE_KEYS: wallets.payers.map((wallet) => wallet.getSecretKey()).join(","),
    SVC_WALRUS_SYSTEM_ID: walrus.systemId,
    SVC_WALRUS_STAKING_ID: walrus.stakingId,
    SVC_WALRUS_AGGREGATOR_URLS: walrus.aggregatorUrls.join(","),
    SVC_WALRUS_PUBLISHER_URL: walrus.publisherUrl,
    SVC_WALRUS_UPLOAD_RELAY_URL: walrus.uploadRelayUrl,
    SVC_SPONSOR: "gas-station",
    SVC_SPONSOR_PRIVATE_KEY: wallets.sponsor.getSecretKey(),
  };
}

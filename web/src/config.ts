/** What the page is told by the server it came from. */
export interface WebConfig {
  /** Base address of the relayer, without a slash at its end. */
  readonly relayerUrl: string;
  /** Address of this page as the relayer knows it. */
  readonly webUrl: string;
  /** Whether the relayer keeps the accounts, or a chain does. */
  readonly accounts: "local" | "chain";
  /** Node of the chain; absent where the relayer keeps the accounts. */
  readonly rpcUrl?: string;
  /** Version of the program. */
  readonly version: string;
}

/** Reads `/config.json`. */
export async function loadConfig(): Promise<WebConfig> {
  const response = await fetch("/config.json", { cache: "no-store" });
  if (!response.ok) throw new Error(`config.json answered ${response.status}`);
  return await response.json() as WebConfig;
}

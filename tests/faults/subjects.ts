import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { Networked } from "../e2e/networked.ts";
import { openProgram } from "../mcp_program.ts";
import { OnDevnet } from "../plugins/sui/accounts/on_devnet.ts";
import { OllamaServer } from "../plugins/models/ollama_server.ts";
import { inHome } from "../program.ts";
import { FaultProxy } from "./fault_proxy.ts";

/** A started program behind whose back a dependency can fail. */
export interface Subject {
  /** Asks once and repeats nothing by itself. */
  readonly client: SvcClient;
  /** What stands in front of each dependency. */
  readonly proxies: Readonly<Record<string, readonly FaultProxy[]>>;
  /** What the program has logged. */
  readonly log: () => readonly string[];
}

type Use = (subject: Subject) => Promise<void>;

async function withModels(use: Use): Promise<void> {
  await using embedder = useLiteEmbedder();
  await using server = new OllamaServer({
    embedders: { "e:latest": embedder },
    chats: { "c:latest": () => JSON.stringify({ facts: ["I like tea"] }) },
  });
  using embeddings = new FaultProxy(server.port);
  const env = {
    SVC_EMBEDDER: "ollama",
    SVC_OLLAMA_URL: embeddings.url,
    SVC_OLLAMA_EMBEDDING_MODEL: "e",
    SVC_LANGUAGE_MODEL: "ollama",
    SVC_OLLAMA_CHAT_MODEL: "c",
    SVC_RATE_LIMIT_DISABLED: "true",
    SVC_RECALL_WAIT_MS: "2000",
  };
  await inHome(async (home) => {
    const opened = await openProgram(home, env);
    await using _program = opened.program;
    const client = new SvcClient({
      baseUrl: opened.base,
      privateKey: opened.secret,
      accountId: opened.headers["x-svc-account-id"]!,
      retry: { attempts: 1 },
    });
    await use({
      client,
      proxies: { "a model server": [embeddings] },
      log: () => opened.program.errors,
    });
  });
}

/** Not the key servers: their addresses are on chain, and the relayer takes no others. */
async function withNetworks(use: Use): Promise<void> {
  await inHome(async (home) => {
    const chain = await OnDevnet.start();
    const { devnet } = chain;
    const owner = await chain.wallet();
    const accountId = await chain.account(owner);
    const key = await chain.key(owner, accountId, ["read", "write"]);
    const settings = devnet.settings();
    using rpc = new FaultProxy(devnet.rpcUrl);
    using relay = new FaultProxy(devnet.walrus.uploadRelayUrl);
    const aggregators = devnet.walrus.aggregatorUrls.map((url) => new FaultProxy(url));
    const env = {
      ...settings,
      SVC_SPONSOR: "off",
      SVC_SUI_RPC_URL: rpc.url,
      SVC_WALRUS_UPLOAD_RELAY_URL: relay.url,
      SVC_WALRUS_AGGREGATOR_URLS: aggregators.map(({ url }) => url).join(","),
      SVC_BLOB_BATCH_MS: "100",
      SVC_SEAL_KEY_SERVER_TIMEOUT_MS: "2000",
      SVC_RECALL_WAIT_MS: "2000",
      SVC_RATE_LIMIT_DISABLED: "true",
      // The account is looked up anew all the time.
      SVC_ACCOUNT_CACHE_TTL_SECONDS: "1",
      SVC_ACCOUNT_LOOKUPS_PER_IP_PER_MINUTE: "100000",
    };
    await using networked = new Networked(chain, owner, accountId, key, home, env);
    await networked.launch();
    try {
      await use({
        client: networked.client(),
        proxies: { chain: [rpc], "upload relay": [relay], aggregators },
        log: () => networked.log,
      });
    } finally {
      for (const proxy of aggregators) proxy[Symbol.dispose]();
    }
  });
}

/** Programs to try, by their names. */
export const SUBJECTS: Readonly<Record<string, (use: Use) => Promise<void>>> = {
  models: withModels,
  networks: withNetworks,
};

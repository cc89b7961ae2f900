/**
 * The relayer's own checks 1 to 13 of a signed POST /api/remember, and a 202 without any write: the
 * most a durable accept could reach. Arguments: port, data directory with the accounts.
 */
import { WordsFiles } from "../../src/storage/words_files.ts";
import { localAccounts } from "../../plugins/local/mod.ts";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryCipher } from "../../plugins/memory/cipher.ts";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { AccountCache } from "../../src/http/account_cache.ts";
import { BodyReader } from "../../src/http/body_reader.ts";
import { Health } from "../../src/http/health.ts";
import { McpProxy } from "../../src/http/mcp_proxy.ts";
import { Grants } from "../../src/http/oauth/grants.ts";
import { TOKEN_PURPOSE } from "../../src/http/session_tokens.ts";
import { OwnAddress } from "../../src/http/own_address.ts";
import { HttpMetrics } from "../../src/http/metrics.ts";
import { RateLimiter } from "../../src/http/limits/rate_limit.ts";
import type { SignedHandler } from "../../src/http/route.ts";
import { Router } from "../../src/http/router.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import { Expiries } from "../../src/jobs/expiries.ts";
import { KvWriter, Staging } from "../../src/jobs/staging.ts";
import { ReplayStore } from "../../src/jobs/replay.ts";
import { Jobs } from "../../src/jobs/jobs.ts";
import { KvJobStore } from "../../src/jobs/kv_job_store.ts";
import { JobWorker } from "../../src/jobs/worker.ts";
import { silentLogger as logger } from "../../src/log.ts";
import { ALL_OWNERS } from "../../src/memory/owners/owners.ts";
import { openDomain } from "../../src/memory/domain.ts";
import { PayloadKeys } from "../../src/memory/waiting/payload_keys.ts";
import { RelayerReceiptKey } from "../../src/sealing/receipt_key.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";

const [port = "0", dataDir = ""] = Deno.args;
const now = Date.now;
const key = new RelayerKey(crypto.getRandomValues(new Uint8Array(32)));
const kv = await Deno.openKv(":memory:");
const writer = new KvWriter(kv, { wakeUps: false, now });
const staging = new Staging(kv, writer, now);
const jobs = new Jobs(new KvJobStore(kv, writer, staging), { maxPending: 1, now });
const config = {
  ...DEFAULT_CONFIG,
  rateLimit: { ...DEFAULT_CONFIG.rateLimit, keyPerMinute: 1e9, accountPerHour: 1e9 },
};
const core = new CoreDb(":memory:");
const embedder = memoryEmbedder();
const vectorStore = memoryVectorStore();
const cipher = memoryCipher();
const sealerOf = (bytes: Uint8Array) => new RelayerKey(bytes).sealer("payload");
const domain = openDomain({
  accounts: localAccounts({ dataDir }),
  blobStore: memoryBlobStore(),
  cipher,
  payloadKeys: new PayloadKeys({ cipher, sealerOf, now }),
  embedder,
  vectorStore,
  config,
  index: new ScopeIndex({ vectorStore, dimensions: embedder.dimensions, budgetBytes: 0 }),
  jobs,
  owners: ALL_OWNERS,
  copies: core.copies,
  worker: new JobWorker(jobs, {
    process: () => Promise.resolve(),
    concurrency: 1,
    maxAttempts: 1,
    dispatch: config.dispatch,
    now,
    random: Math.random,
    logger,
  }),
  expiries: new Expiries(kv, writer),
  staging,
  savedWords: new WordsFiles(undefined, () => new Uint8Array()),
  keyUse: core.keyUse,
  activity: { note() {}, page: () => Promise.resolve({ entries: [] }) },
  tombstones: core.tombstones,
  tombstoneBlobs: core.tombstoneBlobs,
  versions: core.versions,
  policies: core.policies,
  importedId: key.hmac("imported id"),
  sameText: key.hmac("same text"),
  receipts: new RelayerReceiptKey(key),
  scrubJobs: () => Promise.resolve(),
  keys: core.keys,
  sealer: (purpose) => key.sealer(purpose),
  logger,
  now,
});

/** The answer is made up at once, and what it would commit is thrown away. */
const remember: SignedHandler<"POST /api/remember"> = (_domain, call) => {
  const id = crypto.randomUUID();
  const { answer } = call.keep({
    status: 202,
    body: {
      job_id: id,
      status: "running",
      memory_id: id,
      id,
      blob_id: "",
      owner: call.caller.account.owner,
      namespace: "default",
      recallable: false,
    },
  });
  return answer;
};

const replay = new ReplayStore(kv, writer, {
  now,
  hmac: key.hmac("replay"),
  sealer: (secret) => key.sealer(`kept answer ${secret ?? ""}`),
  idempotencyHours: 24,
});
await replay.open();
const bodies = new BodyReader(config.unverifiedBodyBytes, config.bodyTimeoutMs);
const metrics = new HttpMetrics();
const address = new OwnAddress(config);
const failures = metrics.sidecarFailures;
const newLimiter = () => new RateLimiter(now);
const accounts = new AccountCache(domain.accounts, config, newLimiter(), now);
const { sealer } = domain;
const mac = key.hmac("refresh token");
const grants = new Grants({ table: core.grants, sealer, mac, admin: undefined, now });
const tokens = sealer(TOKEN_PURPOSE);
const letIn = { accounts, grants, tokens, now };
const router = new Router(
  {
    domain,
    accounts,
    bodies,
    mcp: new McpProxy({ config, address, ...letIn, bodies, failures, sidecar: undefined }),
    address,
    grants,
    network: undefined,
    limiter: newLimiter(),
    newLimiter,
    replay,
    store: undefined,
    sponsor: undefined,
    metrics,
    health: new Health(domain, () => Promise.resolve(true), undefined),
    logger,
    leaving: () => false,
    closing: () => false,
  },
  { "POST /api/remember": remember },
);
Deno.serve(
  { hostname: "127.0.0.1", port: Number(port), onListen() {} },
  (request, info) => router.fetch(request, info.remoteAddr.hostname),
);

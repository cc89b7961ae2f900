import assert from "node:assert/strict";
import { BUILT_IN } from "../../plugins/built_in.ts";
import { inspectFields, integer, Secret, secret } from "../../src/interfaces/fields.ts";
import { definePlugin } from "../../src/interfaces/plugin.ts";
import {
  configurationMarkdown,
  printConfig,
  readSettings,
  type Settings,
} from "../../src/program/settings/mod.ts";
import { editDistance, suggest } from "../../src/suggestion.ts";
import { TABLE } from "../../src/program/settings/table.ts";
import { verifies } from "../requirements.ts";

const HOME = "/home/ada";
const ID = "0x" + "ab".repeat(32);

/** Fields by variable: the program's, then those that only plugins read. */
const FIELDS = new Map(
  [...BUILT_IN.flatMap(({ fields }) => Object.values(fields)), ...Object.values(TABLE)]
    .map((field) => [field.env, field]),
);

/** A setting that is no member of Settings, because the plugin reads it. */
const OF_PLUGIN = Symbol("of a plugin");

/** Variable, name in Settings, default, a good raw value and what it means, a bad raw value. */
type Row = [
  string,
  keyof Settings | typeof OF_PLUGIN,
  unknown,
  string,
  unknown,
  string | undefined,
];

const SECRET = Symbol("secret");
const number = (
  env: string,
  key: Row[1],
  fallback: number | undefined,
  edge: number,
  beyond: number,
): Row => [env, key, fallback, String(edge), edge, String(beyond)];
const on = (env: string, key: keyof Settings, fallback: boolean): Row => [
  env,
  key,
  fallback,
  fallback ? "0" : "true",
  !fallback,
  "yes",
];

const ROWS: readonly Row[] = [
  ["SVC_TLS_CERT_FILE", "tlsCertFile", undefined, "/c.pem", "/c.pem", undefined],
  ["SVC_TLS_KEY_FILE", "tlsKeyFile", undefined, "/k.pem", "/k.pem", undefined],
  number("SVC_MAX_CONNECTIONS", "maxConnections", 4000, 32, 31),
  number("SVC_MAX_CONNECTIONS_PER_ADDRESS", "maxConnectionsPerAddress", 512, 1, 0),
  ["SVC_HOST", "host", "127.0.0.1", "[::1]", "::1", "127.0.0.1:80"],
  number("SVC_PORT", "port", 8000, 0, 65536),
  number("PORT", "hostedPort", undefined, 65535, -1),
  [
    "SVC_PUBLIC_URL",
    "publicUrl",
    undefined,
    "https://a.example/",
    "https://a.example",
    "a.example",
  ],
  number("SVC_WEB_PORT", "webPort", 5173, 0, 65536),
  ["SVC_WEB_URL", "webUrl", "http://localhost:5173", "https://w.example", "https://w.example", "w"],
  [
    "SVC_ALLOWED_ORIGINS",
    "allowedOrigins",
    ["http://localhost:5173"],
    "https://a.example, http://b.example:81",
    ["https://a.example", "http://b.example:81"],
    "https://a.example/path",
  ],
  ["SVC_ALLOWED_HOSTS", "allowedHosts", [], "Svc.Example,*", ["svc.example", "*"], "a.example:80"],
  [
    "SVC_BEHIND_PROXY",
    "behindProxy",
    [],
    "10.0.0.0/8,::1",
    ["10.0.0.0/8", "::1"],
    "10.0.0.0/33",
  ],
  [
    "SVC_TRUSTED_PROXIES",
    "trustedProxies",
    [],
    "10.0.0.0/8,::1",
    ["10.0.0.0/8", "::1"],
    "10.0.0.0/33",
  ],
  on("SVC_OPEN_REGISTRATION", "openRegistration", false),
  on("SVC_METRICS_PUBLIC", "metricsPublic", false),
  on("SVC_ALLOW_KEY_OVER_HTTP", "allowKeyOverHttp", false),
  on("SVC_CLIENT_METADATA", "clientMetadata", false),
  ["SVC_DATA_DIR", "dataDir", `${HOME}/.svc/relayer`, "data", "/cwd/data", undefined],
  ["SVC_RELAYER_KEY_FILE", "keyFile", `${HOME}/.svc/relayer.key`, "~/k", `${HOME}/k`, undefined],
  ["SVC_RELAYER_KEY_PASSPHRASE_FILE", "keyPassphraseFile", undefined, "/p", "/p", undefined],
  ["SVC_RELAYER_KEY_COMMAND", "keyCommand", undefined, "pass show svc", "pass show svc", undefined],
  number("SVC_BACKUP_HOURS", "backupHours", 0, 8760, 8761),
  ["SVC_BACKUP_DIR", "backupDir", `${HOME}/.svc/backups`, "~/b", `${HOME}/b`, undefined],
  number("SVC_BACKUP_KEEP", "backupKeep", 7, 1, 0),
  [
    "SVC_BACKUP_RECIPIENTS",
    "backupRecipients",
    undefined,
    `age1${"q".repeat(58)}`,
    `age1${"q".repeat(58)}`,
    "age1",
  ],
  number("SVC_INDEX_MEMORY_MB", "indexMemoryMb", 512, 16, 15),
  number("SVC_SHUTDOWN_SECONDS", "shutdownSeconds", 10, 0, 601),
  number("SVC_DRAIN_SECONDS", "drainSeconds", 0, 600, 601),
  ["SVC_STORE", "store", "local", "postgres", "postgres", "postgre"],
  ["SVC_ACCOUNTS", "accounts", "local", "memory", "memory", "su"],
  ["SVC_CIPHER", "cipher", "local", "seal", "seal", "sael"],
  ["SVC_BLOB_STORE", "blobStore", "local", "npm:@x/blobs@1", "npm:@x/blobs@1", "walruss"],
  ["SVC_VECTOR_STORE", "vectorStore", "local", "./v.ts", "file:///cwd/v.ts", "lance"],
  ["SVC_EMBEDDER", "embedder", "use-lite", "memory", "memory", "olama"],
  ["SVC_EMBEDDING_MODEL", "embeddingModel", undefined, "m", "m", undefined],
  number("SVC_EMBEDDING_DIMENSIONS", "embeddingDimensions", undefined, 8192, 0),
  ["SVC_MODEL_DIR", "modelDir", `${HOME}/.svc/models`, "m", "/cwd/m", undefined],
  [
    "SVC_MODEL_HUB",
    "modelHub",
    "https://huggingface.co",
    "https://m.example/",
    "https://m.example",
    "m",
  ],
  [
    "SVC_MODEL_HUB_HOSTS",
    "modelHubHosts",
    undefined,
    "a.example, *.b",
    ["a.example", "*.b"],
    undefined,
  ],
  ["SVC_LANGUAGE_MODEL", "languageModel", "none", "/m.ts", "file:///m.ts", "opnai"],
  on("SVC_ANALYZE_REQUIRES_LLM", "analyzeRequiresLlm", false),
  ["SVC_SPONSOR", "sponsor", "off", "gas-station", "gas-station", "gas"],
  ["SVC_SUI_NETWORK", "suiNetwork", "localnet", "mainnet", "mainnet", "devnet"],
  ["SVC_SUI_RPC_URL", "suiRpcUrl", undefined, "https://n.example", "https://n.example", "n"],
  ["SVC_PACKAGE_ID", "packageId", undefined, ID.toUpperCase().replace("X", "x"), ID, "0x12"],
  ["SVC_REGISTRY_ID", "registryId", undefined, ID, ID, "12"],
  on("SVC_FIRST_ACCOUNT", "firstAccount", true),
  ["SVC_ACCOUNT_ID", "accountId", undefined, ID, ID, ID + "0"],
  number("SVC_ACCOUNT_CACHE_TTL_SECONDS", "accountCacheTtlSeconds", 60, 0, -1),
  number("SVC_ACCOUNT_NEGATIVE_TTL_SECONDS", "accountNegativeTtlSeconds", 5, 3600, 3601),
  number("SVC_ACCOUNT_STALE_SECONDS", "accountStaleSeconds", 300, 0, 86_401),
  number("SVC_ACCOUNT_LOOKUPS_PER_IP_PER_MINUTE", "accountLookupsPerMinute", 60, 1, 0),
  number("SVC_RECALL_WAIT_MS", "recallWaitMs", 2000, 0, 60_001),
  number("SVC_MANUAL_WAIT_MS", "manualWaitMs", 30_000, 120_000, 120_001),
  number("SVC_JOB_CONCURRENCY", "jobConcurrency", 32, 1, 0),
  number("SVC_JOB_MAX_ATTEMPTS", "jobMaxAttempts", 20, 1, 0),
  number("SVC_JOB_RETENTION_DAYS", "jobRetentionDays", 7, 365, 366),
  number("SVC_MAX_PENDING_JOBS", "maxPendingJobs", 10_000, 1, 0),
  number("SVC_MAX_LLM_CALLS", "llmCalls", 8, 1, 0),
  number("SVC_IDEMPOTENCY_HOURS", "idempotencyHours", 24, 1, 0),
  ["SVC_SECRETS", "secrets", "refuse", "redact", "redact", "warn"],
  ["SVC_CONFLICTS", "conflicts", "suggest", "auto", "auto", "on"],
  number("SVC_EMBEDDING_CACHE_TTL_SECONDS", "embeddingCacheTtlSeconds", 600, 0, -1),
  number("SVC_RATE_LIMIT_KEY_PER_MINUTE", "rateKeyPerMinute", 600, 1, 0),
  number("SVC_RATE_LIMIT_ACCOUNT_PER_MINUTE", "rateAccountPerMinute", 0, 1200, -1),
  number("SVC_RATE_LIMIT_ACCOUNT_PER_HOUR", "rateAccountPerHour", 20_000, 1, 0),
  number("SVC_RATE_LIMIT_FREE_READS_PER_SECOND", "rateFreeReadsPerSecond", 10, 0, -1),
  [
    "SVC_RATE_LIMIT_WEIGHTS",
    "rateWeights",
    {},
    '{"POST /api/recall": 2}',
    { "POST /api/recall": 2 },
    '{"recall": 2}',
  ],
  on("SVC_RATE_LIMIT_DISABLED", "rateDisabled", false),
  number("SVC_QUOTA_BYTES", "quotaBytes", 0, 2 ** 40, -1),
  number("SVC_SPONSOR_PER_MINUTE", "sponsorPerMinute", 10, 1, 0),
  number("SVC_SPONSOR_PER_HOUR", "sponsorPerHour", 30, 1, 0),
  number("SVC_SPONSOR_MAX_GAS_MIST", "sponsorMaxGasMist", 50_000_000, 1, 0),
  number("SVC_SPONSOR_DAILY_GAS_MIST", "sponsorDailyGasMist", 1_000_000_000, 1, 0),
  [
    "SIDECAR_URL",
    "sidecarUrl",
    "http://127.0.0.1:9000",
    "http://localhost:0",
    "http://127.0.0.1:0",
    "http://192.168.1.2:9000",
  ],
  ["SIDECAR_AUTH_TOKEN", "sidecarToken", undefined, "t".repeat(16), SECRET, "short"],
  on("SIDECAR_AUTOSTART", "sidecarAutostart", true),
  ["SVC_RELAYER_NAME", "relayerName", undefined, "r-1", "r-1", "relayer.1"],
  number("SVC_MCP_KEEPALIVE_SECONDS", "mcpKeepaliveSeconds", 10, 1, 0),
  number("MCP_MAX_TOTAL_SESSIONS", "mcpMaxSessions", 1000, 1, 0),
  number("MCP_MAX_SESSIONS_PER_IP", "mcpMaxSessionsPerIp", 16, 1, 0),
  number("MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN", "mcpMaxNewSessionsPerIpPerMinute", 30, 1, 0),
  number("MCP_SESSION_IDLE_SECONDS", "mcpSessionIdleSeconds", 1800, 1, 0),
  on("SVC_DEDUPLICATE", "deduplicate", true),
  on("SVC_REQUIRE_NONCE", "requireNonce", false),
  on("SVC_REQUIRE_HOST_BOUND", "requireHostBound", false),
  on("SVC_COMPAT_ALIASES", "compatAliases", true),
  [
    "SVC_COMPAT_SUI_RPC_URL",
    "compatSuiRpcUrl",
    undefined,
    "http://r.example",
    "http://r.example",
    "r",
  ],
  ["SVC_LOG_LEVEL", "logLevel", "info", "debug", "debug", "loud"],
  ["SVC_LOG_FORMAT", "logFormat", "text", "json", "json", "xml"],
  ["SVC_BUILD_COMMIT", "buildCommit", undefined, "abc", "abc", "a\nb"],
  ["SVC_BUILD_TIMESTAMP", "buildTimestamp", undefined, "2026-01-01", "2026-01-01", "\u0007"],
  ["SVC_SUI_PRIVATE_KEYS", OF_PLUGIN, undefined, "k", SECRET, undefined],
  [
    "SVC_SEAL_SERVER_CONFIGS",
    OF_PLUGIN,
    undefined,
    `[{"objectId":"${ID}"}]`,
    SECRET,
    "[]",
  ],
  number("SVC_SEAL_THRESHOLD", OF_PLUGIN, undefined, 1, 0),
  number("SVC_SEAL_KEY_SERVER_TIMEOUT_MS", OF_PLUGIN, 25_000, 100, 99),
  ["SVC_WALRUS_AGGREGATOR_URLS", OF_PLUGIN, [], "http://a", ["http://a"], "a"],
  ["SVC_WALRUS_PUBLISHER_URL", OF_PLUGIN, "", "http://a", "http://a", "a"],
  ["SVC_WALRUS_UPLOAD_RELAY_URL", OF_PLUGIN, "", "http://a", "http://a", "a"],
  number("SVC_WALRUS_EPOCHS", OF_PLUGIN, undefined, 53, 54),
  number("SVC_WALRUS_RENEW_BEFORE_EPOCHS", OF_PLUGIN, 1, 0, -1),
  ["SVC_WALRUS_SYSTEM_ID", OF_PLUGIN, undefined, ID, ID, "0x12"],
  ["SVC_WALRUS_STAKING_ID", OF_PLUGIN, undefined, ID, ID, "0x12"],
  ["SVC_WALRUS_WRITERS", OF_PLUGIN, [], ID, [ID], "0x12"],
  number("SVC_WALRUS_RACE_AFTER_MS", OF_PLUGIN, 150, 0, -1),
  number("SVC_BLOB_BATCH_MS", OF_PLUGIN, 5000, 0, -1),
  number("SVC_BLOB_CACHE_TTL_SECONDS", OF_PLUGIN, 1_209_600, 0, -1),
  ["SVC_OPENAI_API_KEY", OF_PLUGIN, undefined, "k", SECRET, "sk-a…z"],
  [
    "SVC_OPENAI_API_BASE",
    OF_PLUGIN,
    "https://api.openai.com/v1",
    "http://a",
    "http://a",
    "a",
  ],
  ["SVC_CHAT_MODEL", OF_PLUGIN, "gpt-4o-mini", "m", "m", undefined],
  ["SVC_OLLAMA_URL", OF_PLUGIN, "http://127.0.0.1:11434", "http://a", "http://a", "a"],
  ["SVC_OLLAMA_EMBEDDING_MODEL", OF_PLUGIN, undefined, "m", "m", undefined],
  ["SVC_OLLAMA_CHAT_MODEL", OF_PLUGIN, undefined, "m", "m", undefined],
  number("SVC_LANCEDB_VECTOR_INDEX_ROWS", OF_PLUGIN, 250_000, 0, -1),
  ["SVC_DATABASE_URL", OF_PLUGIN, undefined, "postgres://a:b@c/d", SECRET, "mysql://a:b@c/d"],
  number("SVC_DATABASE_CONNECTIONS", OF_PLUGIN, 10, 2, 1),
  ["SVC_S3_ENDPOINT", OF_PLUGIN, "https://s3.us-east-1.amazonaws.com", "http://a", "http://a", "a"],
  ["SVC_S3_BUCKET", OF_PLUGIN, undefined, "a.b-1", "a.b-1", "A_b"],
  ["SVC_S3_REGION", OF_PLUGIN, "us-east-1", "auto", "auto", "eu west"],
  ["SVC_S3_PREFIX", OF_PLUGIN, "svc/", "a/b.c-", "a/b.c-", "a/../b"],
  ["SVC_S3_ADDRESSING", OF_PLUGIN, "path", "host", "host", "dns"],
  ["SVC_S3_VERSIONS", OF_PLUGIN, "ask", "none", "none", "off"],
  ["SVC_S3_ACCESS_KEY_ID", OF_PLUGIN, undefined, "k", SECRET, "AKI…A"],
  ["SVC_S3_SECRET_ACCESS_KEY", OF_PLUGIN, undefined, "k", SECRET, undefined],
  ["SVC_S3_SESSION_TOKEN", OF_PLUGIN, undefined, "k", SECRET, "a z"],
  ["SVC_ENOKI_API_KEY", OF_PLUGIN, undefined, "k", SECRET, "enoki a z"],
  ["SVC_SPONSOR_PRIVATE_KEY", OF_PLUGIN, undefined, "k", SECRET, undefined],
  on("SVC_TEST", "test", false),
  ["SVC_FAILPOINT", "failpoint", undefined, "after.upsert", "after.upsert", "a b"],
  ["SVC_MCP_FIXTURES", "mcpFixtures", undefined, "/a.ts", "/a.ts", undefined],
  [
    "SVC_TEST_DISPATCH",
    "testDispatch",
    ["process", "queue", "sweeper"],
    "sweeper,queue",
    ["queue", "sweeper"],
    "cron",
  ],
];

const read = (env: Record<string, string>) => readSettings({ HOME, ...env }, { cwd: "/cwd" });
/** The value of a setting, wherever it is read. */
function valueOf([env, key]: Row, given: Record<string, string>): unknown {
  if (key !== OF_PLUGIN) return read(given).settings[key];
  return inspectFields({ field: FIELDS.get(env)! }, given).values.field;
}
/** What a setting needs besides; those of tests are allowed in a test, and only there. */
function allowed(env: string): Record<string, string> {
  if (/TLS/.test(env)) return { SVC_TLS_CERT_FILE: "/c.pem", SVC_TLS_KEY_FILE: "/k.pem" };
  return /FAILPOINT|FIXTURES|DISPATCH/.test(env) ? { SVC_TEST: "1" } : {};
}

Deno.test("the rows below are all settings", () => {
  assert.deepEqual(
    ROWS.map(([env]) => env).sort(),
    [...FIELDS.keys()].sort(),
  );
});

for (const row of ROWS) {
  const [env, , fallback, good, meaning, bad] = row;
  Deno.test(`${env}: default, edge and bad value`, () => {
    verifies("15-3", "15-4", "15-5", "15-15", "15-16", "15-20");
    const bare = read({});
    assert.deepEqual(bare.problems, []);
    assert.deepEqual(valueOf(row, {}), fallback);

    const set = { [env]: good, ...allowed(env) };
    assert.deepEqual(read(set).problems, []);
    if (meaning === SECRET) {
      const value = valueOf(row, set);
      assert.ok(value instanceof Secret);
      assert.equal(value.reveal(), good);
    } else assert.deepEqual(valueOf(row, set), meaning);

    if (bad === undefined) return;
    const wrong = read({ [env]: bad, ...allowed(env) });
    if (env.startsWith("MCP_")) {
      assert.deepEqual(wrong.problems, []);
      assert.equal(wrong.warnings.length, 1);
      assert.ok(wrong.warnings[0]!.startsWith(env));
      assert.equal(valueOf(row, { [env]: bad }), fallback);
    } else {
      assert.ok(wrong.problems.length > 0, "a problem was expected");
      for (const line of wrong.problems) assert.match(line, /^S(VC|IDECAR)_[A-Z_]+|^PORT/);
      assert.ok(wrong.problems[0]!.startsWith(env), wrong.problems[0]);
    }
  });
}

Deno.test("what is shared is shared as a whole", () => {
  const { settings, problems } = read({
    SVC_STORE: "postgres",
    SVC_DATABASE_URL: "postgres://me:secret@h:5432/d",
  });
  assert.deepEqual(problems, []);
  const { accounts, blobStore, cipher, vectorStore } = settings;
  assert.deepEqual([accounts, blobStore, cipher, vectorStore], Array(4).fill("postgres"));
  const mixed = read({ SVC_STORE: "postgres", SVC_BLOB_STORE: "walrus", SVC_CIPHER: "local" });
  assert.equal(mixed.settings.blobStore, "walrus");
  assert.match(mixed.problems.join("\n"), /^SVC_CIPHER=local is one relayer's alone: SVC_STORE=/);
  const saved = read({
    SVC_STORE: "postgres",
    SVC_DATABASE_URL: "postgres://me:secret@h:5432/d",
    SVC_BACKUP_HOURS: "24",
  });
  assert.match(saved.problems.join("\n"), /^SVC_BACKUP_HOURS must be 0: SVC_STORE=postgres/);
});

Deno.test("models lie where the relayer cannot write", () => {
  verifies("15-47");
  const { problems } = read({ SVC_MODEL_DIR: "~/.svc/relayer/models" });
  assert.match(problems.join("\n"), /^SVC_MODEL_DIR must be outside SVC_DATA_DIR/);
});

Deno.test("all problems are reported at once", () => {
  const { problems } = read({ SVC_PORT: "x", SVC_JOB_CONCURRENCY: "0", SVC_CIPHER: "what" });
  assert.equal(problems.length, 3);
  assert.match(
    problems.join("\n"),
    /SVC_CIPHER must be local, memory, postgres, seal, a path or an import/,
  );
});

Deno.test("weights are given to signed routes, which may be named as the protocol does", () => {
  verifies("7-12", "15-3", "15-20");
  const weights = (value: unknown) => read({ SVC_RATE_LIMIT_WEIGHTS: JSON.stringify(value) });
  const { settings, problems } = weights({
    "GET /api/remember/:job_id": 7,
    "POST /api/remember/:id/retry": 2,
    "DELETE /api/memories/:id": 3,
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(settings.rateWeights, {
    "GET /api/remember/:id": 7,
    "POST /api/remember/:id/retry": 2,
    "DELETE /api/memories/:id": 3,
  });
  const none = { "POST /api/recal": 9, "POST /api/recall": 1, "GET /version": 1, "__proto__x": 1 };
  assert.deepEqual(weights(none).problems, [
    'SVC_RATE_LIMIT_WEIGHTS must name signed routes such as "POST /api/recall", ' +
    'not "POST /api/recal", "GET /version", "__proto__x"',
  ]);
  for (const weight of [-1, 1001, "1", null]) {
    assert.deepEqual(weights({ "GET /api/remember/:job_id": weight }).problems, [
      'SVC_RATE_LIMIT_WEIGHTS must give "GET /api/remember/:job_id" a number from 0 to 1000',
    ]);
  }
  const twice = weights({ "GET /api/remember/:id": 1, "GET /api/remember/:job_id": 2 });
  assert.deepEqual(twice.problems, [
    'SVC_RATE_LIMIT_WEIGHTS must name "GET /api/remember/:id" once',
  ]);
});

Deno.test("an empty variable means the default", () => {
  assert.deepEqual(read({ SVC_PORT: "", SVC_CIPHER: "" }).problems, []);
  assert.equal(read({ SVC_PORT: "" }).settings.port, 8000);
});

Deno.test("the relayer's and the dashboard's addresses have no path, query or fragment", () => {
  verifies("15-3", "15-7", "15-8");
  for (const env of ["SVC_PUBLIC_URL", "SVC_WEB_URL"]) {
    const key = env === "SVC_WEB_URL" ? "webUrl" : "publicUrl";
    for (const text of ["https://a.example:8443", "https://a.example:8443/"]) {
      const { settings, problems } = read({ [env]: text });
      assert.deepEqual(problems, []);
      assert.equal(settings[key], "https://a.example:8443");
    }
    for (const rest of ["/svc", "/svc/", "//", "/?", "?a=1", "/#top", "#"]) {
      const text = `https://a.example${rest}`;
      assert.deepEqual(read({ [env]: text }).problems, [
        `${env} must be an address such as https://app.example.org without a path, got "${text}"`,
      ]);
    }
  }
});

Deno.test("SVC_PORT wins over PORT", () => {
  verifies("15-6");
  assert.equal(read({ PORT: "81" }).settings.port, 81);
  assert.equal(read({ PORT: "81", SVC_PORT: "82" }).settings.port, 82);
});

Deno.test("computed defaults follow their sources", () => {
  verifies("15-8", "15-9");
  const { settings } = read({ SVC_WEB_PORT: "81", SVC_HOST: "0.0.0.0" });
  assert.equal(settings.webUrl, "http://localhost:81");
  assert.deepEqual(settings.allowedOrigins, ["http://localhost:81"]);
  assert.deepEqual(settings.allowedHosts, []);
  const behind = { SVC_BEHIND_PROXY: "10.0.0.1" };
  assert.deepEqual(read(behind).settings.allowedHosts, []);
  assert.deepEqual(read({ ...behind, SVC_HOST: "::" }).settings.allowedHosts, ["*"]);
});

Deno.test("other machines are let in under a public address, with TLS or behind a proxy", () => {
  verifies("15-50", "15-51");
  const noUrl = (host: string) =>
    `SVC_HOST=${host} lets other machines in: set SVC_PUBLIC_URL to the address that clients use, ` +
    "such as https://memory.example.org";
  const noTls = (host: string) =>
    `SVC_HOST=${host} lets other machines in without TLS: set SVC_TLS_CERT_FILE and ` +
    "SVC_TLS_KEY_FILE, or SVC_BEHIND_PROXY to the addresses of the proxy that ends TLS";
  const url = { SVC_PUBLIC_URL: "https://memory.example.org" };
  const proxy = { SVC_BEHIND_PROXY: "10.0.0.1" };
  const tls = { SVC_TLS_CERT_FILE: "/c.pem", SVC_TLS_KEY_FILE: "/k.pem" };
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "relayer.internal", "128.0.0.1"]) {
    const problems = (env: Record<string, string>) => read({ SVC_HOST: host, ...env }).problems;
    assert.deepEqual(problems({}), [noUrl(host), noTls(host)]);
    assert.deepEqual(problems(url), [noTls(host)]);
    assert.deepEqual(problems(proxy), [noUrl(host)]);
    assert.deepEqual(problems({ ...url, ...proxy }), []);
    assert.deepEqual(problems({ ...url, ...tls }), []);
    const half = problems({ ...url, SVC_TLS_CERT_FILE: "/c.pem" });
    assert.match(half.join(), /go together: only SVC_TLS_CERT_FILE is set/);
    assert.deepEqual(problems({ ...url, SVC_TRUSTED_PROXIES: "10.0.0.1" }), []);
  }
  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"]) {
    assert.deepEqual(read({ SVC_HOST: host }).problems, [], host);
  }
});

Deno.test("SVC_TRUSTED_PROXIES is the older name of SVC_BEHIND_PROXY", () => {
  verifies("15-21");
  const older = read({ SVC_TRUSTED_PROXIES: "10.0.0.1" });
  assert.deepEqual([older.problems, older.settings.behindProxy], [[], ["10.0.0.1"]]);
  const both = read({ SVC_TRUSTED_PROXIES: "10.0.0.1", SVC_BEHIND_PROXY: "10.0.0.2" });
  assert.deepEqual(both.problems, [
    "SVC_BEHIND_PROXY and SVC_TRUSTED_PROXIES are one setting: leave out the second",
  ]);
});

Deno.test("a public address without a named proxy, or without TLS, is a warning", () => {
  verifies("15-21");
  const warnings = (env: Record<string, string>) => read(env).warnings;
  const url = "https://memory.example.org";
  assert.deepEqual(warnings({ SVC_PUBLIC_URL: url }), [
    `SVC_PUBLIC_URL is ${url} and SVC_HOST 127.0.0.1: name the proxy between them in ` +
    "SVC_BEHIND_PROXY, or all clients share the limits of one",
  ]);
  assert.deepEqual(warnings({ SVC_PUBLIC_URL: url, SVC_BEHIND_PROXY: "127.0.0.1" }), []);
  for (const own of ["http://localhost:9000", "http://[::1]:9000", "http://127.0.0.1"]) {
    assert.deepEqual(warnings({ SVC_PUBLIC_URL: own }), [], own);
  }
  const plain = "http://memory.example.org";
  assert.deepEqual(warnings({ SVC_PUBLIC_URL: plain, SVC_BEHIND_PROXY: "127.0.0.1" }), [
    `SVC_PUBLIC_URL is ${plain}: without TLS everybody on the way reads along`,
  ]);
});

Deno.test("accounts on chain need a package and a registry", () => {
  const text = read({ SVC_ACCOUNTS: "sui" }).problems.join("\n");
  assert.match(text, /SVC_PACKAGE_ID is needed/);
  assert.match(text, /SVC_REGISTRY_ID is needed/);
  const both = read({ SVC_PACKAGE_ID: ID, SVC_REGISTRY_ID: ID });
  assert.equal(both.settings.accounts, "sui");
});

Deno.test("a plugin that does not play the role is refused", () => {
  assert.equal(read({ SVC_CIPHER: "use-lite" }).problems.length, 1);
});

Deno.test("settings for tests are refused in production", () => {
  verifies("15-14");
  const { problems } = read({
    SVC_FAILPOINT: "x",
    SVC_MCP_FIXTURES: "1",
    SVC_TEST_DISPATCH: "queue",
  });
  assert.deepEqual(problems, [
    "SVC_FAILPOINT is refused unless SVC_TEST=1",
    "SVC_MCP_FIXTURES is refused unless SVC_TEST=1",
    "SVC_TEST_DISPATCH is refused unless SVC_TEST=1",
  ]);
});

Deno.test("the relayer key stays outside the data directory, and has one source", () => {
  const inside = read({ SVC_DATA_DIR: "/d", SVC_RELAYER_KEY_FILE: "/d/key" });
  assert.match(inside.problems.join(), /SVC_RELAYER_KEY_FILE must be outside SVC_DATA_DIR/);
  const two = read({ SVC_RELAYER_KEY_FILE: "/k", SVC_RELAYER_KEY_COMMAND: "c" });
  assert.match(two.problems.join(), /exclude each other/);
});

Deno.test("without a home directory the paths must be given", () => {
  assert.match(readSettings({}).problems.join(), /SVC_DATA_DIR is needed/);
  const given = readSettings({ SVC_DATA_DIR: "/d", SVC_RELAYER_KEY_FILE: "/k" });
  assert.deepEqual(given.problems, []);
});

Deno.test("two listeners cannot share a port", () => {
  assert.equal(read({ SVC_PORT: "5173" }).problems.length, 1);
  assert.equal(read({ SVC_PORT: "9000" }).problems.length, 1);
});

Deno.test("unknown names get a suggestion; names of others are left alone", () => {
  verifies("15-1", "15-2");
  const { warnings } = read({
    SVC_PROT: "1",
    SVC_JOB_CONCURENCY: "1",
    SVC_ZZZZZZZZZZZZ: "1",
    SVC_SERVER_URL: "http://x",
    SVC_MCP_DEBUG: "1",
    PATH: "/bin",
  });
  assert.deepEqual(warnings, [
    "SVC_JOB_CONCURENCY is unknown; did you mean SVC_JOB_CONCURRENCY?",
    "SVC_PROT is unknown; did you mean SVC_PORT?",
    "SVC_ZZZZZZZZZZZZ is unknown",
  ]);
});

Deno.test("a setting no chosen plugin reads is a warning", () => {
  assert.deepEqual(read({ SVC_WALRUS_EPOCHS: "3" }).warnings, [
    "SVC_WALRUS_EPOCHS is set, but no chosen plugin reads it",
  ]);
});

Deno.test("edit distance counts swapped neighbours once", () => {
  assert.equal(editDistance("prot", "port"), 1);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(suggest("SVC_ABC", []), undefined);
});

Deno.test("the printed settings name every variable, hide secrets and mark defaults", () => {
  verifies("15-30");
  const hidden = "hunter2-hunter2-hunter2";
  const env = { SIDECAR_AUTH_TOKEN: hidden, SVC_OPENAI_API_KEY: hidden, SVC_PORT: "81" };
  const reading = read(env);
  const { settings } = reading;
  const lines = printConfig(reading, env).trimEnd().split("\n");
  assert.equal(lines.length, FIELDS.size);
  assert.ok(lines.includes("SVC_PORT=81"));
  assert.ok(lines.includes("SVC_HOST=127.0.0.1 # default"));
  assert.ok(lines.includes("SIDECAR_AUTH_TOKEN=[secret]"));
  assert.ok(!lines.join("\n").includes(hidden));
  assert.ok(!JSON.stringify(settings).includes(hidden));
  assert.ok(!Deno.inspect(settings).includes(hidden));
});

/** A plugin from elsewhere, with a setting of its own and some that others have. */
const mine = definePlugin({
  name: "walrus",
  docs: "https://mine.example/docs",
  fields: {
    size: integer("SVC_MINE_SIZE", 3, 1, 9, "Size of mine"),
    token: secret("MINE_TOKEN", "Token of mine"),
    epochs: integer("SVC_WALRUS_EPOCHS", 100, 1, 200, "Epochs of mine"),
    network: TABLE.suiNetwork,
  },
  roles: {},
});
const readWithMine = (env: Record<string, string>) =>
  readSettings({ HOME, ...env }, { cwd: "/cwd", plugins: [mine] });

Deno.test("a plugin from elsewhere is read, known and printed like the others", () => {
  verifies("15-1", "15-3", "15-30");
  const env = { SVC_MINE_SIZE: "4", MINE_TOKEN: "hunter2", SVC_WALRUS_EPOCHS: "150" };
  const reading = readWithMine(env);
  assert.deepEqual([reading.problems, reading.warnings], [[], []]);
  const lines = printConfig(reading, env).trimEnd().split("\n");
  assert.equal(lines.length, FIELDS.size + 2);
  assert.ok(lines.includes("SVC_MINE_SIZE=4") && lines.includes("MINE_TOKEN=[secret]"));
  assert.ok(lines.includes("SVC_WALRUS_EPOCHS=150"));
  const wrong = readWithMine({ SVC_MINE_SIZE: "0", SVC_WALRUS_EPOCHS: "201", SVC_PORT: "x" });
  assert.deepEqual(wrong.problems.map((line) => line.split(" ", 1)[0]), [
    "SVC_PORT",
    "SVC_MINE_SIZE",
    "SVC_WALRUS_EPOCHS",
  ]);
  assert.deepEqual(readWithMine({ SVC_MINE_SIEZ: "1", SVC_WALRUS_RACE_AFTER_MS: "1" }).warnings, [
    "SVC_WALRUS_RACE_AFTER_MS is set, but no chosen plugin reads it",
    "SVC_MINE_SIEZ is unknown; did you mean SVC_MINE_SIZE?",
  ]);
});

Deno.test("the reference names the settings of a plugin from elsewhere under its name", () => {
  const [, section = ""] = configurationMarkdown([mine]).split("https://mine.example/docs");
  assert.match(section, /\| `SVC_MINE_SIZE` +\| 3 +\| Size of mine +\|\n\| `MINE_TOKEN`/);
  assert.match(section, /^[^|]*Reads `SVC_SUI_NETWORK` too/);
});

Deno.test("who reads the same variable says the same about it", () => {
  for (const { name, fields } of BUILT_IN) {
    for (const { env, doc, fallback, fallbackText } of Object.values(fields)) {
      const said = FIELDS.get(env);
      assert.deepEqual([doc, fallback, fallbackText], [
        said?.doc,
        said?.fallback,
        said?.fallbackText,
      ], `${name}: ${env}`);
    }
  }
});

Deno.test("a bad secret is not repeated in its problem", () => {
  const bad = "sécret-value-that-is-long";
  const { problems } = read({
    SIDECAR_AUTH_TOKEN: bad,
    SVC_SEAL_SERVER_CONFIGS: `["${bad}"]`,
    SVC_WALRUS_AGGREGATOR_URLS: `https://a.example.org, https://ada:${bad}@b.example.org`,
  });
  assert.equal(problems.length, 3);
  assert.ok(!problems.join("\n").includes(bad));
});

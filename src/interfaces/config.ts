import { SvcError } from "../errors.ts";
import {
  BODY_TIMEOUT_SECONDS,
  IDEMPOTENCY_HOURS,
  JOB_RETENTION_DAYS,
  UNVERIFIED_BODIES_BYTES,
} from "../wire/limits.ts";
import { VERSION } from "../wire/version.ts";

/** Weighted limits of docs/protocol.md#7. */
export interface RateLimitConfig {
  /** Weight a key may spend in a sliding minute. */
  readonly keyPerMinute: number;
  /** Weight an owner may spend in a sliding minute; 0 switches the layer off. */
  readonly accountPerMinute: number;
  /** Weight an owner may spend in a sliding hour. */
  readonly accountPerHour: number;
  /** Free status polls and GETs a key may send per second. */
  readonly freeReadsPerSecond: number;
  /** Weights by signed route, such as `GET /api/remember/:id`, that replace the defaults. */
  readonly weights: Readonly<Record<string, number>>;
  /** Switches the three layers off. */
  readonly disabled: boolean;
}

/** Limits of sponsored transactions (docs/protocol.md#7 and #9.1). */
export interface SponsorConfig {
  /** Requests of a client address, and of a sender, in a sliding minute. */
  readonly perMinute: number;
  /** Requests of a client address, and of a sender, in a sliding hour. */
  readonly perHour: number;
  /** Most gas of one transaction, MIST. */
  readonly maxGasMist: number;
  /** Most gas of a UTC day, MIST. */
  readonly dailyGasMist: number;
}

/** What is done about secrets in what is to be stored (docs/protocol.md#10.15). */
export type SecretsRule = "refuse" | "redact" | "allow";

/**
 * What becomes of a memory that says something else than an older one about the same thing: both stay
 * and name each other, it takes the older one's place, or nothing is looked for.
 */
export type ConflictPolicy = "suggest" | "auto" | "off";

/** How jobs are started; all of them in production, each alone suffices. */
export interface DispatchConfig {
  /** Start accepted jobs in this process at once. */
  readonly process: boolean;
  /** Wake up on messages of the KV queue. */
  readonly queue: boolean;
  /** Look for due jobs every second. */
  readonly sweeper: boolean;
}

/** Everything an operator may change in a relayer, with the defaults of docs/protocol.md#15. */
export interface RelayerConfig {
  /** Version of the program. */
  readonly version: string;
  /** Build block of /version. */
  readonly build: { readonly commit?: string; readonly buildTimestamp?: string };
  /** `{base_url}`; where the relayer listens when absent. */
  readonly publicUrl: string | undefined;
  /** `{web_url}`. */
  readonly webUrl: string;
  /** Origins CORS answers to. */
  readonly allowedOrigins: readonly string[];
  /** Further names a Host header may carry on owner and MCP routes; `*` allows any. */
  readonly allowedHosts: readonly string[];
  /** Addresses and CIDR ranges of proxies, whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Network of the chain. */
  readonly network: "mainnet" | "testnet" | "localnet";
  /** Value of `suiRpcUrl` in /config; `{base_url}/compat/sui` when absent. */
  readonly compatSuiRpcUrl: string | undefined;
  /** Package id on chain; made once and kept when absent. */
  readonly packageId: string | undefined;
  /** Registry id on chain. */
  readonly registryId: string | undefined;
  /** Account used when a request gives no hint. */
  readonly defaultAccountId: string | undefined;
  /** Seconds a positive account answer is fresh. */
  readonly accountCacheTtlSeconds: number;
  /** Seconds a negative account answer is kept. */
  readonly accountNegativeTtlSeconds: number;
  /** Seconds a positive answer is served while the registry is down. */
  readonly accountStaleSeconds: number;
  /** Uncached look-ups per client address and minute. */
  readonly accountLookupsPerMinute: number;
  /** Refuse the 4-field signature with 426. */
  readonly requireNonce: boolean;
  /** Whether a text that is stored already is answered with the memory that has it. */
  readonly deduplicate: boolean;
  /** What becomes of a memory that says something else than an older one. */
  readonly conflicts: ConflictPolicy;
  /** Refuse every signature but the host-bound one with 426. */
  readonly requireHostBound: boolean;
  /** Longest wait of a recall for the caller's own pending jobs, milliseconds. */
  readonly recallWaitMs: number;
  /** Longest wait of a manual remember for its blob, milliseconds. */
  readonly manualWaitMs: number;
  /** Jobs embedded and indexed at once. */
  readonly jobConcurrency: number;
  /** Tries of one job, the first included. */
  readonly jobMaxAttempts: number;
  /** Days an ended job's record is kept. */
  readonly jobRetentionDays: number;
  /** Unfinished jobs above which nothing more is accepted. */
  readonly maxPendingJobs: number;
  /** How jobs are started. */
  readonly dispatch: DispatchConfig;
  /** Hours an idempotency key is remembered. */
  readonly idempotencyHours: number;
  /** Seconds an embedded query is kept in memory; 0 = never. */
  readonly embeddingCacheTtlSeconds: number;
  /** Weighted limits. */
  readonly rateLimit: RateLimitConfig;
  /** Limits of sponsored transactions. */
  readonly sponsor: SponsorConfig;
  /** Refuse to analyze by rules when there is no language model. */
  readonly analyzeRequiresLlm: boolean;
  /** Longest time an analyze or an ask may spend with the language model, milliseconds. */
  readonly llmTimeoutMs: number;
  /** Calls of the language model under way at once. */
  readonly llmCalls: number;
  /** What is done about passwords, keys and other secrets in memories. */
  readonly secrets: SecretsRule;
  /** Ciphertext bytes per owner; 0 = unlimited. */
  readonly quotaBytes: number;
  /** Memory budget of the scope index in bytes. */
  readonly indexMemoryBytes: number;
  /** Creating accounts from elsewhere than this machine. */
  readonly openRegistration: boolean;
  /** /metrics for everybody. */
  readonly metricsPublic: boolean;
  /** Takes private keys in headers from other machines over plain HTTP, too. */
  readonly allowKeyOverHttp: boolean;
  /**
   * Whether an app of OAuth may name itself by the address of its document, which is read from the
   * public internet.
   */
  readonly clientMetadata: boolean;
  /** Alias names of docs/protocol.md#17.2. */
  readonly compatAliases: boolean;
  /** Longest time a request's body may take, milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Unverified body bytes in memory at once. */
  readonly unverifiedBodyBytes: number;
  /** Called at named points of the flow; tests stop the process there. */
  readonly failpoint: (point: string) => void;
}

/** Defaults of {@linkcode RelayerConfig}. */
export const DEFAULT_CONFIG: RelayerConfig = {
  version: VERSION,
  build: {},
  publicUrl: undefined,
  webUrl: "http://localhost:5173",
  allowedOrigins: ["http://localhost:5173"],
  allowedHosts: [],
  trustedProxies: [],
  network: "localnet",
  compatSuiRpcUrl: undefined,
  packageId: undefined,
  registryId: undefined,
  defaultAccountId: undefined,
  accountCacheTtlSeconds: 60,
  accountNegativeTtlSeconds: 5,
  accountStaleSeconds: 300,
  accountLookupsPerMinute: 60,
  requireNonce: false,
  deduplicate: true,
  conflicts: "suggest",
  requireHostBound: false,
  recallWaitMs: 2000,
  manualWaitMs: 30_000,
  jobConcurrency: 32,
  jobMaxAttempts: 20,
  jobRetentionDays: JOB_RETENTION_DAYS,
  maxPendingJobs: 10_000,
  dispatch: { process: true, queue: true, sweeper: true },
  idempotencyHours: IDEMPOTENCY_HOURS,
  embeddingCacheTtlSeconds: 600,
  rateLimit: {
    keyPerMinute: 600,
    accountPerMinute: 0,
    accountPerHour: 20_000,
    freeReadsPerSecond: 10,
    weights: {},
    disabled: false,
  },
  sponsor: {
    perMinute: 10,
    perHour: 30,
    maxGasMist: 50_000_000,
    dailyGasMist: 1_000_000_000,
  },
  analyzeRequiresLlm: false,
  llmTimeoutMs: 55_000,
  llmCalls: 8,
  secrets: "refuse",
  quotaBytes: 0,
  indexMemoryBytes: 512 * 1024 * 1024,
  openRegistration: false,
  metricsPublic: false,
  allowKeyOverHttp: false,
  clientMetadata: false,
  compatAliases: true,
  bodyTimeoutMs: BODY_TIMEOUT_SECONDS * 1000,
  unverifiedBodyBytes: UNVERIFIED_BODIES_BYTES,
  failpoint: () => {},
};

/** Fields of which less than one would mean that nothing ever ends. */
const AT_LEAST_ONE: ReadonlySet<string> = new Set(
  [
    "jobConcurrency",
    "jobMaxAttempts",
    "llmCalls",
    "bodyTimeoutMs",
    "unverifiedBodyBytes",
    "indexMemoryBytes",
  ] satisfies (keyof RelayerConfig)[],
);
/** Timers of the platform that are told to wait longer fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * A configuration with the defaults for what it leaves out.
 *
 * @throws {SvcError} `invalid_parameter` when a number cannot be what its field means.
 */
export function completeConfig(given: Partial<RelayerConfig> = {}): RelayerConfig {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const config: RelayerConfig = { ...DEFAULT_CONFIG, ...Object.fromEntries(named) };
  const { publicUrl } = config;
  if (publicUrl !== undefined && !/^https?:$/.test(URL.parse(publicUrl)?.protocol ?? "")) {
    throw invalid("config.publicUrl", "an http or https address");
  }
  checkNumbers(config, DEFAULT_CONFIG, "config");
  for (const [route, weight] of Object.entries(config.rateLimit.weights)) {
    checkNumber(weight, route, `config.rateLimit.weights of ${route}`);
  }
  return config;
}

/** Checks what is a number in `defaults`, also in the objects of those. */
function checkNumbers(values: object, defaults: object, path: string): void {
  const given = new Map<string, unknown>(Object.entries(values));
  for (const [name, usual] of Object.entries(defaults)) {
    const value = given.get(name);
    const field = `${path}.${name}`;
    if (typeof usual === "number") checkNumber(value, name, field);
    else if (typeof usual === "object" && !Array.isArray(usual)) {
      if (typeof value !== "object" || value === null) throw invalid(field, "an object");
      checkNumbers(value, usual, field);
    }
  }
}

function checkNumber(value: unknown, name: string, field: string): void {
  const least = AT_LEAST_ONE.has(name) ? 1 : 0;
  const most = name.endsWith("Ms") ? LONGEST_TIMER : Infinity;
  if (typeof value === "number" && value >= least && value <= most) return;
  const range = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
  throw invalid(field, `a number, ${range}`);
}

function invalid(field: string, wanted: string): SvcError {
  return new SvcError("invalid_parameter", `${field} must be ${wanted}`);
}

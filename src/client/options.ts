import { pause } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { isObjectId } from "../wire/keys.ts";
import { parsePrivateKey } from "../wire/signing/private_key.ts";
import { makeSigner, type Signer } from "./signer.ts";

/** How often and how long a call is repeated; only calls that cannot write twice ever are. */
export interface RetryPolicy {
  /** Most sendings of one call, the first included; default 4, 1 switches repetition off. */
  readonly attempts?: number;
  /** Wait before the first repetition in milliseconds, doubled each time; default 250. */
  readonly baseDelayMs?: number;
  /** Longest wait, also of one asked for by `Retry-After`, in milliseconds; default 30,000. */
  readonly maxDelayMs?: number;
}

/** Options of {@linkcode SvcClient}. */
export interface SvcClientOptions {
  /** Base address of the relayer, `http` or `https`. */
  readonly baseUrl: string;
  /** Delegate private key: 64 hex characters, `0x` allowed, or a `suiprivkey1…` text. */
  readonly privateKey?: string;
  /** Signs instead of a private key, for keys that cannot be read out, such as a browser's. */
  readonly signer?: Signer;
  /** Object id of the account, `0x` and 64 hex characters: speeds up its resolution. */
  readonly accountId?: string | undefined;
  /**
   * Signature form; default `auto`: `host-bound`, which names the relayer's address too, where the
   * relayer's `/version` offers it, else `nonce` (6 fields). `legacy` (4 fields) carries no query.
   */
  readonly form?: "auto" | "host-bound" | "nonce" | "legacy";
  /**
   * Stands for signatures where a relayer takes a session token for them: on its internal listener.
   * Instead of `privateKey` and `signer`.
   */
  readonly sessionToken?: (() => string) | undefined;
  /**
   * Whether the relayer is another one than the key was made for; default `false`. Then requests are
   * signed for its address, whatever it offers, and it is sent nothing that opens memories.
   */
  readonly isForeign?: boolean;
  /** Value of `x-seal-session`, sent where the relayer decrypts. */
  readonly sealSession?: string | undefined;
  /**
   * Sends the private key itself where the relayer decrypts, for threshold ciphers that need it;
   * default `false`. Refused over plain http to a host that is not loopback.
   */
  readonly sendDelegateKey?: boolean;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Longest wait for one answer, and for more of an export, in milliseconds, at least 1; default
   * 60,000.
   */
  readonly timeoutMs?: number;
  /** Repetition of calls. */
  readonly retry?: RetryPolicy;
  /** Default: the platform's `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Current time in milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Waits some milliseconds, or until the signal aborts: then it may reject. Default: a timer. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

type Given<T> = { readonly [K in keyof T]-?: NonNullable<T[K]> };
type Defaulted = "baseUrl" | "form" | "headers" | "timeoutMs" | "fetch" | "now" | "sleep";

/** Options with nothing left open. */
export interface ResolvedOptions
  extends Given<Pick<SvcClientOptions, Defaulted>>, Given<RetryPolicy> {
  /** Makes the signer; called once. */
  readonly makeSigner: () => Promise<Signer>;
  readonly accountId: string | undefined;
  readonly sessionToken: (() => string) | undefined;
  /** Whether the relayer may be sent what opens memories. */
  readonly mayOpen: boolean;
  readonly credentialHeaders: Readonly<Record<string, string>>;
}

const invalid = (field: string, message: string): SvcError =>
  new SvcError("invalid_parameter", message, { field });

/**
 * A relayer address in its one spelling: no trailing slash.
 *
 * @returns `undefined` unless it is http or https without credentials, query and fragment.
 */
export function parseBaseUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.username + url.password + url.search + url.hash !== "") return undefined;
  // Not `href`, which keeps a lone ? or # at the end.
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** Whether an address is plain http to a host that is not this machine. */
export function isExposed(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" &&
    !/^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

function credentialHeaders(
  options: SvcClientOptions,
  baseUrl: string,
  seed: Uint8Array | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (options.sealSession) headers[HEADER.sealSession] = options.sealSession;
  if (options.sendDelegateKey) {
    if (seed === undefined) {
      throw invalid("sendDelegateKey", "sendDelegateKey needs a privateKey");
    }
    if (options.isForeign) {
      throw invalid("sendDelegateKey", "The delegate key is not sent to another relayer");
    }
    if (isExposed(baseUrl)) {
      throw invalid("sendDelegateKey", "The delegate key is not sent over plain http");
    }
    headers[HEADER.delegateKey] = seed.toHex();
  }
  return headers;
}

/** The private key, unless something else signs. */
function seedOf(options: SvcClientOptions): Uint8Array<ArrayBuffer> | undefined {
  const { privateKey, signer, sessionToken } = options;
  if (sessionToken !== undefined) return undefined;
  if (signer !== undefined && privateKey === undefined) return undefined;
  if (signer !== undefined) throw invalid("signer", "privateKey and signer exclude each other");
  const seed = parsePrivateKey(privateKey ?? "");
  if (seed === undefined) {
    throw invalid("privateKey", "privateKey must be 64 hex characters or a suiprivkey text");
  }
  return seed;
}

/** A number that is no less than the least; `NaN` is less than everything. */
function atLeast(least: number, field: string, value: number): number {
  if (!(value >= least)) throw invalid(field, `${field} must be at least ${least}`);
  return value;
}

/**
 * Checks options and fills in the defaults.
 *
 * @throws {SvcError} `invalid_parameter`, with the option's name as `field`.
 */
export function resolveOptions(options: SvcClientOptions): ResolvedOptions {
  const baseUrl = parseBaseUrl(options.baseUrl);
  if (baseUrl === undefined) {
    throw invalid("baseUrl", "baseUrl must be an http or https address");
  }
  const seed = seedOf(options);
  if (options.accountId && !isObjectId(options.accountId)) {
    throw invalid("accountId", "accountId must be 0x and 64 hex characters");
  }
  return {
    baseUrl,
    makeSigner: async () => options.signer ?? await makeSigner(seed!),
    accountId: options.accountId || undefined,
    sessionToken: options.sessionToken,
    // Over plain http others on the network would learn it too.
    mayOpen: !options.isForeign && !isExposed(baseUrl),
    form: options.isForeign ? "host-bound" : options.form ?? "auto",
    credentialHeaders: credentialHeaders(options, baseUrl, seed),
    headers: options.headers ?? {},
    timeoutMs: atLeast(1, "timeoutMs", options.timeoutMs ?? 60_000),
    attempts: Math.max(1, atLeast(0, "retry.attempts", options.retry?.attempts ?? 4)),
    baseDelayMs: atLeast(0, "retry.baseDelayMs", options.retry?.baseDelayMs ?? 250),
    maxDelayMs: atLeast(0, "retry.maxDelayMs", options.retry?.maxDelayMs ?? 30_000),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    now: options.now ?? Date.now,
    sleep: options.sleep ?? pause,
  };
}

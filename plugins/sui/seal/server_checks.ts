import {
  InvalidClientOptionsError,
  InvalidKeyServerError,
  type KeyServerConfig,
  SealClient,
  type SealClientOptions,
} from "@mysten/seal";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { BoundedMap } from "../../../src/bounded_map.ts";
import { Deadline } from "../../../src/deadline.ts";
import { SvcError } from "../../../src/errors.ts";
import { since } from "./age.ts";
import type { KeyServer, KeyWorkOptions, ServerSet } from "./calls.ts";
import { chainDown, keyServersDown } from "./failures.ts";
import { KeyServerFetch } from "./key_server_fetch.ts";
import { Reads, rememberingClient } from "./remembering_client.ts";

/** Time after which a server that proved its key is asked again. */
const FRESH_MS = 10 * 60_000;
/** Time for which the proof counts while the server cannot be asked again. */
const STALE_MS = 24 * 60 * 60_000;
/** Time after which a server that is wrong is asked again. */
const WRONG_MS = 5_000;
const MAX_KNOWN = 200;

type Verdict =
  /** It holds the key that is on chain. */
  | { readonly state: "proved"; readonly at: number }
  /** It cannot be used: another key, another address, not on chain. */
  | { readonly state: "wrong"; readonly at: number; readonly error: SvcError }
  /** It did not answer. */
  | { readonly state: "silent"; readonly error: SvcError };

/**
 * Checks that key servers hold the keys that the chain says they hold. Each is asked for a proof of
 * possession, and again after some minutes; the last proof counts while a server is down.
 */
export class ServerChecks {
  readonly #client: SuiGrpcClient;
  readonly #reads: Reads;
  readonly #options: KeyWorkOptions;
  readonly #note: (message: string) => void;
  readonly #configured: ReadonlyMap<string, KeyServer>;
  readonly #known = new BoundedMap<string, Verdict & { readonly state: "proved" | "wrong" }>(
    MAX_KNOWN,
  );
  readonly #running = new Map<string, Promise<Verdict>>();

  /**
   * @param reads Gets the objects of servers that proved their keys pinned, so that nothing is
   * wrapped for another key that a node names later.
   */
  constructor(
    client: SuiGrpcClient,
    reads: Reads,
    options: KeyWorkOptions,
    note: (message: string) => void,
  ) {
    this.#client = client;
    this.#reads = reads;
    this.#options = options;
    this.#note = note;
    this.#configured = new Map(options.servers.map((server) => [server.objectId, server]));
  }

  /**
   * The usable servers of a set, in the form of the SDK, as soon as those that proved their keys
   * reach the threshold.
   *
   * @throws {SvcError} `key_service_unavailable` or `chain_unavailable` when they do not reach it.
   */
  async usable({ servers, threshold }: ServerSet): Promise<KeyServerConfig[]> {
    const enough = Promise.withResolvers<void>();
    const wrong = new Set<string>();
    const errors: SvcError[] = [];
    let proved = 0;
    const checks = servers.map(async ({ objectId, weight }) => {
      const verdict = await this.#verdict(objectId);
      if (verdict.state === "proved") proved += weight;
      else errors.push(verdict.error);
      if (verdict.state === "wrong") wrong.add(objectId);
      if (proved >= threshold) enough.resolve();
    });
    await Promise.race([enough.promise, Promise.all(checks)]);
    if (proved < threshold) throw worstOf(errors);
    return this.configs(servers.filter(({ objectId }) => !wrong.has(objectId)));
  }

  /** Servers in the form of the SDK. */
  configs(servers: ServerSet["servers"]): KeyServerConfig[] {
    return servers.map(({ objectId, weight }) => {
      const { aggregatorUrl, apiKeyName, apiKey } = this.#configured.get(objectId) ?? {};
      return {
        objectId,
        weight,
        ...(aggregatorUrl === undefined ? {} : { aggregatorUrl }),
        ...(apiKeyName === undefined || apiKey === undefined ? {} : { apiKeyName, apiKey }),
      };
    });
  }

  #verdict(objectId: string): Promise<Verdict> | Verdict {
    const known = this.#known.get(objectId);
    const age = known === undefined ? Infinity : since(known.at, Date.now());
    if (known?.state === "wrong" && age < WRONG_MS) return known;
    if (known?.state === "proved" && age < FRESH_MS) return known;
    const check = this.#check(objectId);
    // A server that proved its key today is asked in the background.
    if (known?.state === "proved" && age < STALE_MS) return known;
    return check;
  }

  #check(objectId: string): Promise<Verdict> {
    return this.#running.getOrInsertComputed(objectId, async () => {
      try {
        const verdict = await this.#ask(objectId);
        if (verdict.state === "wrong" && this.#known.get(objectId)?.state !== "wrong") {
          this.#note(`seal: key server ${objectId}: ${verdict.error.message}`);
        }
        if (verdict.state !== "silent") this.#known.set(objectId, verdict);
        return verdict;
      } finally {
        this.#running.delete(objectId);
      }
    });
  }

  async #ask(objectId: string): Promise<Verdict> {
    const { timeoutMs } = this.#options;
    using deadline = new Deadline(timeoutMs);
    const exchange = new KeyServerFetch(deadline.signal);
    const reads = new Reads();
    const options = {
      suiClient: rememberingClient(this.#client, reads),
      serverConfigs: this.configs([{ objectId, weight: 1 }]),
      timeout: timeoutMs,
      fetch: exchange.fetch,
    };
    try {
      const onChain = await this.#load(objectId, options);
      if (onChain !== undefined) return onChain;
      await new SealClient({ ...options, verifyKeyServers: true }).getKeyServers();
      this.#reads.pin(reads);
      return { state: "proved", at: Date.now() };
    } catch (error) {
      if (error instanceof InvalidKeyServerError) {
        return this.#wrong("A key server does not hold the key that is on chain", error);
      }
      if (error instanceof SvcError) return { state: "silent", error };
      return { state: "silent", error: keyServersDown(error) };
    }
  }

  /** Reads a server from the chain; returns what is wrong with it there. */
  async #load(objectId: string, options: SealClientOptions): Promise<Verdict | undefined> {
    let url: string;
    let independent: boolean;
    try {
      const server = (await new SealClient(options).getKeyServers()).get(objectId);
      if (server === undefined) throw new TypeError("the SDK lost a server");
      url = server.url.replace(/\/+$/, "");
      independent = server.serverType === "Independent";
    } catch (error) {
      if (error instanceof InvalidClientOptionsError) {
        return this.#wrong(
          "SVC_SEAL_SERVER_CONFIGS must give a committee's aggregatorUrl, and no other server's",
          error,
        );
      }
      if (isMissing(error)) return this.#wrong("A key server is not on chain", error);
      return { state: "silent", error: chainDown(error) };
    }
    const configured = this.#configured.get(objectId);
    if (!independent && configured?.url !== undefined) {
      return this.#wrong(
        "SVC_SEAL_SERVER_CONFIGS must give a committee's aggregatorUrl, not a url",
      );
    }
    if (configured?.url !== undefined && configured.url !== url) {
      return this.#wrong("A url in SVC_SEAL_SERVER_CONFIGS is not the key server's on chain");
    }
    // A server that is not configured was named by a stored key, perhaps by somebody else's.
    const plain = !url.startsWith("https://") && this.#options.network !== "localnet";
    if (configured === undefined && plain) return this.#wrong("A key server has no https address");
    return undefined;
  }

  #wrong(message: string, cause?: unknown): Verdict {
    return { state: "wrong", at: Date.now(), error: keyServersDown(cause, message) };
  }
}

/** Whether the chain answered that there is no such object. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && "reason" in error && error.reason === "notFound";
}

/** The error to report: the chain's before that of a setting before those of servers. */
function worstOf(errors: readonly SvcError[]): SvcError {
  return errors.find(({ code }) => code === "chain_unavailable") ??
    errors.find(({ message }) => message.includes("SVC_")) ?? errors[0] ?? keyServersDown();
}

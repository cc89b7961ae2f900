import type { SvcClient } from "../client/client.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { PublicNetwork } from "../interfaces/public_network.ts";
import type { SidecarAddress } from "../http1/sidecar_connections.ts";
import type { Backends } from "../interfaces/mod.ts";
import type { BackendSource } from "../interfaces/plugin.ts";
import type { Logger } from "../log.ts";

/** Options of {@linkcode createRelayer}. */
export interface RelayerOptions {
  /**
   * Folder for jobs, keys and tombstones of this relayer alone; made, 0700, when it is missing.
   * Absent: nothing is kept.
   */
  readonly dataDir?: string;
  /** 32 secret bytes that seal what waits on disk; needed with a folder, random without. */
  readonly relayerKey?: Uint8Array;
  /** Where the key comes from, such as its file, for the error that another one is needed. */
  readonly relayerKeySource?: string | undefined;
  /**
   * Sources of backends; of several that play a role, the last one does. Every role but
   * `languageModel` and `sponsor` must be played. What a factory opened ends with the relayer; a
   * backend that was given open belongs to whoever made it.
   */
  readonly backends: BackendSource | readonly BackendSource[];
  /** Replaces defaults. */
  readonly config?: Partial<RelayerConfig>;
  /** Silent by default. */
  readonly logger?: Logger;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** The sidecar that answers on the MCP routes; absent when there is none. */
  readonly sidecar?: SidecarAddress;
  /** How documents of apps are read where `config.clientMetadata` is set; tests answer for the internet. */
  readonly publicNetwork?: PublicNetwork;
  /** Whether the sidecar pays for sponsored transactions, where `backends` has no sponsor. */
  readonly sidecarSponsors?: boolean;
}

/** What a listener tells of a request. */
export interface ListenerInfo {
  /** The other end of the connection; without it a client counts as this machine. */
  readonly remoteAddr?: Deno.Addr;
  /** Path and query as they came, where `request.url` was normalised; `Deno.serve` keeps them. */
  readonly target?: string;
  /** Whether the caller is the sidecar: it has proven that, or runs in this process. */
  readonly isProven?: boolean;
}

/** A running relayer. */
export interface Relayer extends AsyncDisposable {
  /** What it works with; what its factories opened ends with it. */
  readonly backends: Backends;
  /**
   * Answers one request; pass it to `Deno.serve`. Without `info` a client counts as this machine.
   */
  fetch(request: Request, info?: ListenerInfo): Promise<Response>;
  /**
   * Says where the relayer listens, before its first request: it is what owners' challenges and
   * `/config` name unless `config.publicUrl` does, and which Host headers owner and MCP routes and
   * `/metrics` take. Without it that is `http://127.0.0.1:8000`, and any port of `localhost`.
   *
   * @param url Scheme, the address that is bound, and port, such as `http://0.0.0.0:8000`.
   */
  listensAt(url: string): void;
  /**
   * Whether a signed request came from a network within ten minutes, so that a listener without room
   * closes connections of others first.
   *
   * @param network `v4` and an address, or `v6` and the first four groups of one.
   */
  isKnownNetwork(network: string): boolean;
  /**
   * Answers one call of the sidecar: a request that counts for the client whose address the sidecar
   * names. Whoever is not proven to be the sidecar gets 404. `spawnSidecar` listens for the calls of
   * the process it starts; a sidecar of `createSidecar` is given
   * `(url, init) => relayer.fetchInternal(new Request(url, init), { isProven: true })` as its `fetch`.
   */
  fetchInternal(request: Request, info?: ListenerInfo): Promise<Response>;
  /**
   * The account of a name, for the program that embeds the relayer: created at the first call, the
   * same one as long as the accounts and the relayer key are the same. Its calls pass the same
   * checks, limits and walls as signed requests from outside, under a key that is made of the
   * relayer key and the name; nothing leaves the process. To shut an account out, deactivate it.
   *
   * @param name 1 to 64 bytes of UTF-8 without control characters, byte for byte.
   * @throws {SvcError} `invalid_parameter` for another name, and where accounts are managed outside
   * of the relayer, as on a chain.
   */
  account(name: string): Promise<SvcClient>;
  /** Resolves when no job is running and none is ready. */
  idle(): Promise<void>;
  /** Tells balancers to look elsewhere: from now on `GET /health` answers 503, all else goes on. */
  leave(): void;
  /** Refuses new requests, and waits at most so many milliseconds for running jobs. */
  drain(graceMs: number): Promise<void>;
}

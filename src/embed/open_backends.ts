import { SvcError } from "../errors.ts";
import { silentLogger } from "../log.ts";
import type { RelayerOptions } from "./relayer_options.ts";
import type { Backends, Role, StateStore } from "../interfaces/mod.ts";
import type {
  Backend,
  BackendSource,
  Factory,
  FileContext,
  KeyStore,
  RoleContexts,
  Sealer,
} from "../interfaces/plugin.ts";

/** What a relayer gives the factories of its backends. */
export interface Surroundings extends FileContext {
  readonly keys: KeyStore;
  /** Encryption under the relayer key; equal purposes give equal keys. */
  sealer(purpose: string): Sealer;
}

const NEEDED = ["accounts", "blobStore", "cipher", "embedder", "vectorStore"] as const;
const ROLES: readonly Role[] = [...NEEDED, "languageModel", "sponsor", "store"];

/** Purposes from before they were made of plugin and role: what was sealed then must open. */
const EARLIER_PURPOSES: Readonly<Record<string, string>> = {
  "lancedb-vectorStore": "lancedb",
  "local-vectorStore": "local-index",
};

/** Ciphers that wrap data keys the same way: what one of them wrapped, the others open. */
const LIKE_CIPHERS: readonly string[] = ["local-cipher", "postgres-cipher"];

function purposeOf(plugin: string | undefined, role: Role): string {
  return plugin === undefined ? role : `${plugin}-${role}`;
}

/** Encryption for one player of a role, under the relayer key. */
function sealerOf(
  plugin: string | undefined,
  role: Role,
  sealer: Surroundings["sealer"],
): Sealer {
  const purpose = purposeOf(plugin, role);
  const named = (name: string) => sealer(`plugin ${EARLIER_PURPOSES[name] ?? name}`);
  const own = named(purpose);
  if (!LIKE_CIPHERS.includes(purpose)) return own;
  // Wrapped keys travel with blobs, which a move leaves as they are.
  const others = LIKE_CIPHERS.filter((name) => name !== purpose);
  return new LikeSealer(own, () => others.map(named));
}

/** Seals for itself, and opens what others sealed as well. */
class LikeSealer implements Sealer {
  readonly #own: Sealer;
  /** Made when they are needed, which is hardly ever. */
  readonly #others: () => readonly Sealer[];

  constructor(own: Sealer, others: () => readonly Sealer[]) {
    this.#own = own;
    this.#others = others;
  }

  seal(...given: Parameters<Sealer["seal"]>): Uint8Array {
    return this.#own.seal(...given);
  }

  sealLarge(...given: Parameters<Sealer["sealLarge"]>): Promise<Uint8Array> {
    return this.#own.sealLarge(...given);
  }

  open(...given: Parameters<Sealer["open"]>): Uint8Array {
    try {
      return this.#own.open(...given);
    } catch (error) {
      for (const other of this.#others()) {
        try {
          return other.open(...given);
        } catch {
          // What the own one says is told.
        }
      }
      throw error;
    }
  }

  async openLarge(given: Uint8Array, additionalData: string): Promise<Uint8Array> {
    const bytes = new Uint8Array(given);
    return await this.#own.openLarge(bytes, additionalData)
      .catch(() => this.open(bytes, additionalData));
  }
}

function refused(message: string): SvcError {
  return new SvcError("invalid_parameter", message);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** The last source of each role that somebody plays. */
function lastOf(sources: readonly BackendSource[]): Map<Role, BackendSource> {
  const last = new Map<Role, BackendSource>();
  for (const source of sources) {
    if (!isObject(source)) throw refused("An element of backends is no object of roles");
    for (const [member, value] of Object.entries(source)) {
      if (member === "name" || value === undefined) continue;
      const role = ROLES.find((known) => known === member);
      if (role === undefined) {
        throw refused(`${member} is no role: backends has ${ROLES.join(", ")}`);
      }
      if (typeof value !== "function" && !isObject(value)) {
        throw refused(`backends: what plays ${role} is neither a backend nor a factory of one`);
      }
      last.set(role, source);
    }
  }
  return last;
}

/**
 * Opens the store that relayers share, before anything else is known; `undefined` where nobody plays it.
 *
 * @throws as {@linkcode openBackends}.
 */
export async function openStore(
  { backends, logger = silentLogger }: Pick<RelayerOptions, "backends" | "logger">,
  stack: AsyncDisposableStack,
): Promise<StateStore | undefined> {
  const player = lastOf(Array.isArray(backends) ? backends : [backends]).get("store")?.store;
  if (typeof player !== "function") return player;
  return stack.use(await player({ log: (level, message) => logger[level](message) }));
}

/**
 * Opens the backends of a relayer: the embedder first, since the vector store is told its model and
 * the length of its vectors. What factories opened is disposed of with the stack, in reverse.
 *
 * @param given Sources; of several that play a role, the last one does.
 * @throws {SvcError} `invalid_parameter` when a source is none, or nobody plays a role that is needed;
 * and whatever a factory throws.
 */
export async function openBackends(
  given: BackendSource | readonly BackendSource[],
  surroundings: Surroundings,
  stack: AsyncDisposableStack,
): Promise<Backends> {
  const sources = lastOf(Array.isArray(given) ? given : [given]);
  const missing = NEEDED.filter((role) => !sources.has(role));
  if (missing.length > 0) {
    throw refused(`Nothing plays ${missing.join(", ")}: add a source of it to backends`);
  }
  // One object may play several roles; it is disposed of once.
  const owned = new Set<object>();
  const open = async <R extends Role>(role: R, context: RoleContexts[R]): Promise<Backend<R>> => {
    const player = sources.get(role)?.[role] as Backend<R> | Factory<R>;
    if (typeof player !== "function") return player;
    const backend = await player(context);
    if (!isObject(backend)) throw refused(`The factory of ${role} opened no backend`);
    if (!owned.has(backend)) owned.add(stack.use(backend));
    return backend;
  };
  const sealer = (role: Role) =>
    sealerOf(sources.get(role)?.name, role, (purpose) => surroundings.sealer(purpose));
  const { dataDir, keys } = surroundings;
  const log: FileContext["log"] = (level, message) => surroundings.log(level, message);
  const files = { dataDir, log };
  const embedder = await open("embedder", files);
  const { dimensions, model } = embedder;
  return {
    embedder,
    accounts: await open("accounts", files),
    cipher: await open("cipher", { sealer: sealer("cipher"), keys, log }),
    blobStore: await open("blobStore", files),
    vectorStore: await open("vectorStore", {
      ...files,
      dimensions,
      model,
      sealer: sealer("vectorStore"),
    }),
    ...(sources.has("languageModel") ? { languageModel: await open("languageModel", files) } : {}),
    ...(sources.has("sponsor") ? { sponsor: await open("sponsor", { log }) } : {}),
  };
}

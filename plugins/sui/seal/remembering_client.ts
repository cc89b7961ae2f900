import type { SuiGrpcClient } from "@mysten/sui/grpc";

/** How long what is not pinned is believed. */
const READ_MS = 5 * 60_000;
const MAX_READS = 500;

interface Read {
  readonly value: Promise<unknown>;
  readonly expiresAt: number;
}

/** Point reads by what was asked. */
export class Reads {
  readonly #now: () => number;
  readonly #reads = new Map<string, Read>();

  /** Knows nothing yet. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The answer to a question, asked if it is not known; failures are not remembered. */
  get<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#reads.get(key);
    // Equal keys are equal questions, whose answers have one type.
    if (known !== undefined && known.expiresAt > this.#now()) return known.value as Promise<T>;
    const value = read();
    if (this.#reads.size >= MAX_READS) this.#reads.clear();
    this.#reads.set(key, { value, expiresAt: this.#now() + READ_MS });
    value.catch(() => this.#forget(key, value));
    return value;
  }

  /** Keeps the answers of other reads for good, until they are replaced. */
  pin(others: Reads): void {
    for (const [key, { value }] of others.#reads) {
      this.#reads.set(key, { value, expiresAt: Infinity });
    }
  }

  #forget(key: string, value: Promise<unknown>): void {
    if (this.#reads.get(key)?.value === value) this.#reads.delete(key);
  }
}

/**
 * A client that remembers point reads: the SDK reads the package on every encryption and every
 * session, and the key servers in every client.
 */
export function rememberingClient(client: SuiGrpcClient, reads: Reads): SuiGrpcClient {
  const { core } = client;
  const getObject = (options: Parameters<typeof core.getObject>[0]) => {
    const key = JSON.stringify(["object", options.objectId, options.include ?? {}]);
    return reads.get(key, () => core.getObject(options));
  };
  const getDynamicField = (options: Parameters<typeof core.getDynamicField>[0]) => {
    const { parentId, name } = options;
    const key = JSON.stringify(["field", parentId, name.type, name.bcs.toHex()]);
    return reads.get(key, () => core.getDynamicField(options));
  };
  return overriding(client, { core: overriding(core, { getObject, getDynamicField }) });
}

/** An object with some members replaced; methods keep their `this`, which has private members. */
function overriding<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === "string" && Object.hasOwn(members, name)) return members[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

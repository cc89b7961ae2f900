import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { BoundedMap } from "../../../src/bounded_map.ts";

/** How long the answer of a read is used, unless it is pinned. */
const READ_MS = 5 * 60_000;
const MAX_READS = 500;

interface Read {
  readonly value: Promise<unknown>;
  readonly expiresAt: number;
}

/** Answers of point reads, by what was asked. */
export class Reads {
  readonly #reads = new BoundedMap<string, Read>(MAX_READS);

  /** The known answer, or else that of `read`; failures are forgotten. */
  get<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#reads.get(key);
    // Equal keys are equal questions, whose answers have the same type.
    if (known !== undefined && known.expiresAt > Date.now()) return known.value as Promise<T>;
    const value = read();
    this.#reads.set(key, { value, expiresAt: Date.now() + READ_MS });
    value.catch(() => {
      if (this.#reads.get(key)?.value === value) this.#reads.delete(key);
    });
    return value;
  }

  /** Keeps the answers of other reads for good, or until they are pinned anew. */
  pin(others: Reads): void {
    for (const [key, { value }] of others.#reads) {
      this.#reads.set(key, { value, expiresAt: Infinity });
    }
  }
}

/**
 * A client that remembers point reads, because the SDK reads the package for every encryption and
 * every session, and the key servers for every client.
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

/** An object with some members replaced. Other methods keep their `this` for its private members. */
function overriding<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === "string" && Object.hasOwn(members, name)) return members[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

import type { SuiGrpcClient } from "@mysten/sui/grpc";

/** How long key servers' objects are believed. */
const OBJECT_MS = 5 * 60_000;
const MAX_ENTRIES = 500;

interface Entry {
  readonly value: Promise<unknown>;
  readonly expiresAt: number;
}

/**
 * A client that remembers point reads: the SDK reads the package on every encryption and every
 * session, and the key servers in every client. Failures are not remembered; packages never change,
 * so they stay.
 *
 * @param packageId Remembered for good.
 */
export function rememberingClient(
  client: SuiGrpcClient,
  packageId: string,
  now: () => number,
): SuiGrpcClient {
  const entries = new Map<string, Entry>();
  const remembered = (key: string, forGood: boolean, read: () => Promise<unknown>) => {
    const known = entries.get(key);
    if (known !== undefined && known.expiresAt > now()) return known.value;
    const value = read();
    if (entries.size >= MAX_ENTRIES) entries.clear();
    entries.set(key, { value, expiresAt: forGood ? Infinity : now() + OBJECT_MS });
    value.catch(() => {
      if (entries.get(key)?.value === value) entries.delete(key);
    });
    return value;
  };
  const { core } = client;
  const getObject = (options: Parameters<typeof core.getObject>[0]) =>
    remembered(
      JSON.stringify(["object", options.objectId, options.include ?? {}]),
      options.objectId === packageId,
      () => core.getObject(options),
    );
  const getDynamicField = (options: Parameters<typeof core.getDynamicField>[0]) => {
    const { parentId, name } = options;
    const key = JSON.stringify(["field", parentId, name.type, name.bcs.toHex()]);
    return remembered(key, false, () => core.getDynamicField(options));
  };
  const remembering = overriding(core, { getObject, getDynamicField });
  return overriding(client, { core: remembering });
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

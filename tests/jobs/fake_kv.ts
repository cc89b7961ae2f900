/** Order of the parts of Deno KV keys: bytes, texts, numbers. */
function rank(part: Deno.KvKeyPart): number {
  return part instanceof Uint8Array ? 0 : typeof part === "string" ? 1 : 2;
}

function comparePart(a: Deno.KvKeyPart, b: Deno.KvKeyPart): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return comparePart(a.toHex(), b.toHex());
  }
  const [x, y] = [a as number, b as number];
  return x < y ? -1 : x > y ? 1 : 0;
}

function compare(a: Deno.KvKey, b: Deno.KvKey): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = comparePart(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function textOf(key: Deno.KvKey): string {
  return JSON.stringify(key.map((part) => part instanceof Uint8Array ? part.toHex() : part));
}

interface Row {
  readonly key: Deno.KvKey;
  readonly value: unknown;
  readonly versionstamp: string;
}

type Change =
  | { readonly key: Deno.KvKey; readonly value: unknown }
  | { readonly key: Deno.KvKey; readonly gone: true };

/** Where the table's work is let through; throws what the table refuses with. */
export type Gate = <T>(name: string, work: () => T | Promise<T>) => Promise<T>;

/** Rows that outlive the process. */
export class FakeTable {
  readonly rows = new Map<string, Row>();
  /** Wake-ups that were sent. */
  messages = 0;
  #version = 0;

  /** Keys of the rows that begin so. */
  keys(...prefix: Deno.KvKey): Deno.KvKey[] {
    return [...this.rows.values()]
      .map((row) => row.key)
      .filter((key) => prefix.every((part, i) => comparePart(part, key[i] ?? "") === 0))
      .sort(compare);
  }

  write(changes: readonly Change[]): void {
    const versionstamp = String(++this.#version).padStart(20, "0");
    for (const change of changes) {
      if ("gone" in change) this.rows.delete(textOf(change.key));
      else {
        const value = structuredClone(change.value);
        this.rows.set(textOf(change.key), { key: change.key, value, versionstamp });
      }
    }
  }
}

/**
 * The part of Deno KV that the jobs use, over a table in memory, without a timer or a thread: what
 * happens next is decided by the gate alone.
 */
export function fakeKv(table: FakeTable, gate: Gate): Deno.Kv {
  const entryOf = (key: Deno.KvKey) => {
    const row = table.rows.get(textOf(key));
    return { key, value: structuredClone(row?.value) ?? null, versionstamp: row?.versionstamp };
  };
  const kv = {
    get: (key: Deno.KvKey) => gate("kv.get", () => entryOf(key)),
    getMany: (keys: readonly Deno.KvKey[]) => gate("kv.getMany", () => keys.map(entryOf)),
    async *list(selector: Deno.KvListSelector, options: { limit?: number } = {}) {
      const inRange = (key: Deno.KvKey) =>
        "prefix" in selector
          ? key.length > selector.prefix.length &&
            selector.prefix.every((part, i) => comparePart(part, key[i]!) === 0)
          : compare(key, selector.start) >= 0 && compare(key, selector.end) < 0;
      const rows = await gate("kv.list", () => {
        const found = [...table.rows.values()].filter(({ key }) => inRange(key));
        return structuredClone(found.sort((a, b) => compare(a.key, b.key)));
      });
      yield* rows.slice(0, options.limit ?? Infinity);
    },
    atomic() {
      const changes: Change[] = [];
      const checks: { key: Deno.KvKey; versionstamp: string | null }[] = [];
      let messages = 0;
      const atomic = {
        check(entry: { key: Deno.KvKey; versionstamp: string | null }) {
          checks.push(entry);
          return atomic;
        },
        set(key: Deno.KvKey, value: unknown) {
          changes.push({ key, value });
          return atomic;
        },
        delete(key: Deno.KvKey) {
          changes.push({ key, gone: true });
          return atomic;
        },
        enqueue() {
          messages++;
          return atomic;
        },
        commit: () =>
          gate("kv.commit", () => {
            const ok = checks.every(({ key, versionstamp }) =>
              table.rows.get(textOf(key))?.versionstamp === versionstamp
            );
            if (ok) {
              table.write(changes);
              table.messages += messages;
            }
            return { ok };
          }),
      };
      return atomic;
    },
  };
  return kv as unknown as Deno.Kv;
}

/** Lets everything through at once. */
export const openGate: Gate = async (_name, work) => await work();

import { SvcError } from "../errors.ts";
import type { Backends, Role, StateStore } from "../interfaces/mod.ts";
import type { Backend } from "../interfaces/plugin.ts";
import { traced } from "../tracing.ts";

/** How a call of a backend ended. */
export interface MeasuredCall {
  /** Who was called, in snake case as everywhere in metrics: `blob_store`. */
  readonly dependency: string;
  /** What for: `put`. */
  readonly operation: string;
  readonly seconds: number;
  /** Why it failed: an error code, `aborted` or `timeout`; absent when it did not. */
  readonly failure?: string;
}

/** Takes note of a call. */
export type CallNote = (call: MeasuredCall) => void;

/** Calls that may leave the process or wait for a disk; all of them answer promises. */
const OPERATIONS: { readonly [R in Role]: readonly (keyof Backend<R>)[] } = {
  accounts: ["resolve", "get"],
  blobStore: ["put", "get", "getForeign", "delete", "scrub"],
  cipher: ["seal", "open", "rotate", "destroy"],
  embedder: ["embed", "embedQuery"],
  languageModel: ["chat"],
  sponsor: ["sponsor", "execute"],
  store: [],
  vectorStore: ["upsert", "link", "search", "get", "scan", "scopes", "outdated", "delete", "scrub"],
};

type Parts = Omit<StateStore, "leavesDeleted" | "connections" | typeof Symbol.asyncDispose>;
type StorePart = keyof Parts;
type Calls<T> = readonly (keyof T & string)[];

/** The same of the parts of a store of state. */
const PARTS: { readonly [P in StorePart]: Calls<StateStore[P]> } = {
  jobs: ["accept", "claim", "progress", "saveStep", "end", "stage", "read"],
  ledger: ["read", "write"],
  owners: ["take", "release"],
  expiries: ["note", "due", "remove"],
  activity: ["write", "page"],
  windows: ["spend"],
  words: ["read", "write", "drop"],
};

type Callable = (...args: readonly unknown[]) => unknown;

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The code of a failure; of a call that somebody ended, how it was ended. */
function failureOf(error: unknown, args: readonly unknown[]): string {
  const { signal }: { signal?: AbortSignal } = Object(args.at(-1));
  if (signal?.aborted !== true) return SvcError.from(error).code;
  const reason: unknown = signal.reason;
  if (reason instanceof SvcError) return reason.code;
  return reason instanceof Error && reason.name === "TimeoutError" ? "timeout" : "aborted";
}

/**
 * A backend whose calls are measured, and are spans where spans are recorded. Neither holds what is
 * called with, or answered. Everything else is the backend's own.
 */
export function measured<R extends Role>(role: R, backend: Backend<R>, note: CallNote): Backend<R> {
  const calls = OPERATIONS[role].map((name) => [String(name), snakeCase(String(name))] as const);
  return measuredCalls(snakeCase(role), backend, calls, note);
}

/** A store of state whose parts are measured as {@linkcode measured} does: `jobs_accept`. */
export function measuredStore(store: StateStore, note: CallNote): StateStore {
  const part = <P extends StorePart>(name: P): StateStore[P] => {
    const calls = PARTS[name].map((call) => [call, snakeCase(`${name}_${call}`)] as const);
    return measuredCalls("store", store[name], calls, note);
  };
  return {
    jobs: part("jobs"),
    ledger: part("ledger"),
    owners: part("owners"),
    expiries: part("expiries"),
    activity: part("activity"),
    windows: part("windows"),
    words: part("words"),
    ...(store.leavesDeleted === undefined ? {} : { leavesDeleted: store.leavesDeleted }),
    ...(store.connections === undefined ? {} : { connections: () => store.connections!() }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function measuredCalls<T extends object>(
  dependency: string,
  backend: T,
  operations: readonly (readonly [name: string, operation: string])[],
  note: CallNote,
): T {
  const calls = new Map<PropertyKey, Callable>();
  function measure(name: string, operation: string): Callable {
    const span = `${dependency} ${operation}`;
    const options = {
      kind: "client",
      attributes: { "svc.dependency": dependency, "svc.operation": operation },
    } as const;
    return async (...args) => {
      const started = performance.now();
      const seconds = () => (performance.now() - started) / 1000;
      try {
        const own = Reflect.get(backend, name) as unknown as Callable;
        const answer = await traced(span, options, async () => await own.apply(backend, [...args]));
        note({ dependency, operation, seconds: seconds() });
        return answer;
      } catch (error) {
        const failure = failureOf(error, args);
        note({ dependency, operation, seconds: seconds(), failure });
        throw error;
      }
    };
  }
  for (const [name, operation] of operations) calls.set(name, measure(name, operation));
  // Not of the backend itself, which may be frozen: a proxy of that could answer nothing else.
  return new Proxy(Object.create(Object.getPrototypeOf(backend)), {
    has: (_, name) => Reflect.has(backend, name),
    get(_, name) {
      const value: unknown = Reflect.get(backend, name);
      if (typeof value !== "function") return value;
      return calls.get(name) ?? value.bind(backend);
    },
  });
}

/** Everything that plays a role, measured. */
export function measuredBackends(backends: Backends, note: CallNote): Backends {
  const each = Object.entries(backends)
    .map(([role, backend]) => [role, measured(role as Role, backend, note)]);
  return Object.fromEntries(each);
}

import type { Uses } from "./parts.ts";
import type { Scope } from "../interfaces/mod.ts";
import { type Caller, isOpenTo, scopeOf } from "./caller.ts";

type Counting = Uses<{ vectorStore: "scopes"; jobs: "liveIn" }>;

/** What one or all namespaces of an owner hold. */
interface Stats {
  /** Indexed memories. */
  readonly memoryCount: number;
  /** Their ciphertext bytes. */
  readonly storageBytes: number;
  /** Unfinished jobs whose memory is not indexed yet. */
  readonly pending: number;
}

export async function stats(domain: Counting, caller: Caller, namespace: string): Promise<Stats> {
  const scope: Scope = scopeOf(caller, namespace);
  const scopes = await domain.vectorStore.scopes(scope.owner);
  const found = scopes.find((item) => item.namespace === scope.namespace);
  return {
    memoryCount: found?.count ?? 0,
    storageBytes: found?.bytes ?? 0,
    pending: domain.jobs.liveIn(scope).filter((live) => !live.recallable).length,
  };
}

interface NamespaceView {
  readonly namespace: string;
  /** Indexed memories. */
  readonly memoryCount: number;
  /** Their ciphertext bytes. */
  readonly storageBytes: number;
  /** When something was written last, milliseconds since the epoch. */
  readonly lastWriteAt: number;
}

/** The caller's namespaces by name, after `after`. */
export async function namespaces(
  domain: Counting,
  caller: Caller,
  limit: number,
  after: string | undefined,
): Promise<{ namespaces: NamespaceView[]; total: number; more: boolean }> {
  const all = await domain.vectorStore.scopes(caller.account.owner);
  const scopes = all.filter(({ namespace }) => isOpenTo(caller, namespace));
  // One order for every store: the cursor is compared with it.
  scopes.sort((a, b) => a.namespace < b.namespace ? -1 : 1);
  const rest = after === undefined ? scopes : scopes.filter((s) => s.namespace > after);
  const page = rest.slice(0, limit).map(({ namespace, count, bytes, lastWriteAt }) => ({
    namespace,
    memoryCount: count,
    storageBytes: bytes,
    lastWriteAt,
  }));
  return { namespaces: page, total: scopes.length, more: rest.length > limit };
}

import type { Memory, Stats } from "../../../src/client/memory_results.ts";
import type { Session } from "../session.ts";

/** Memories of the first page. */
const PAGE = 50;
/**
 * How long a count is believed while nothing changes, in milliseconds: lists cost nothing, a count
 * is a request of those that the account's apps share.
 */
const COUNTED_MS = 60_000;

/** The newest memories of a namespace, and how many there are and are on their way. */
export interface Overview {
  readonly memories: readonly Memory[];
  readonly total: number;
  readonly nextCursor: string | undefined;
  readonly stats: Stats;
  /** When it was counted, milliseconds since the epoch. */
  readonly countedAt: number;
}

/**
 * Loads the first page of a namespace.
 *
 * @param before What was loaded before, of the same namespace.
 */
export async function loadOverview(
  session: Session,
  namespace: string,
  before: Overview | undefined,
): Promise<Overview> {
  return await session.ask(async (client) => {
    const { memories, total, next_cursor: nextCursor } = await client.memories({
      namespace,
      limit: PAGE,
    });
    const isCounted = before !== undefined && before.total === total &&
      before.memories[0]?.memory_id === memories[0]?.memory_id &&
      Date.now() - before.countedAt < COUNTED_MS;
    const { stats, countedAt } = isCounted
      ? before
      : { stats: await client.stats(namespace), countedAt: Date.now() };
    return { memories, total, nextCursor, stats, countedAt };
  });
}

import type { SvcClient } from "../../../src/client/client.ts";
import type { Memory, MemoryPage } from "../../../src/client/results.ts";
import type { AnswerOf } from "../../../src/wire/route_types.ts";
import type { Session } from "../session.ts";
import { type ShownTime, timeQuery } from "./standing/shown_time.ts";

/** Most memories of a page, and about how many bytes of them: an answer may have 32 MiB. */
const PAGE = 50;
const PAGE_BYTES = 4_000_000;
/**
 * How long a count is believed while nothing changes, in milliseconds: lists cost nothing, a count
 * is a request of those that the account's apps share.
 */
const COUNTED_MS = 60_000;

/** The newest memories of a namespace, and how many there are and are on their way. */
export interface Overview {
  readonly page: MemoryPage;
  /** What the page was made of: it changes when a memory does. */
  readonly outline: string;
  readonly stats: AnswerOf<"POST /api/stats">;
  /** When it was counted, milliseconds since the epoch. */
  readonly countedAt: number;
}

/** Which page of which namespace, and of when. */
interface Place {
  readonly namespace: string;
  readonly time: ShownTime;
  readonly cursor?: string | undefined;
}

const placeQuery = ({ time, ...place }: Place) => ({ ...place, ...timeQuery(time) });

/** What a page would hold, without texts. */
async function outlineOf(client: SvcClient, place: Place): Promise<MemoryPage> {
  return await client.memories({ ...placeQuery(place), limit: PAGE, text: false });
}

/** The page with its texts; where they are long it is shorter. */
async function pageOf(client: SvcClient, place: Place, outline: MemoryPage): Promise<MemoryPage> {
  let bytes = 0;
  const fitting = outline.memories.findIndex(({ size_bytes: size }) =>
    (bytes += size) > PAGE_BYTES
  );
  const limit = fitting === -1 ? PAGE : Math.max(1, fitting);
  return await client.memories({ ...placeQuery(place), limit });
}

/** Loads a page behind others. */
export async function loadOlder(session: Session, place: Place): Promise<MemoryPage> {
  return await session.ask(async (client) =>
    await pageOf(client, place, await outlineOf(client, place))
  );
}

const hasFailures = (memories: readonly Memory[]): boolean =>
  memories.some(({ text_error: error }) => error !== undefined);

/**
 * Loads the first page of a namespace.
 *
 * @param before What was loaded before, of the same place.
 */
export async function loadOverview(
  session: Session,
  place: Omit<Place, "cursor">,
  before: Overview | undefined,
): Promise<Overview> {
  return await session.ask(async (client) => {
    const asked = await outlineOf(client, place);
    const outline = JSON.stringify([asked.total, asked.history_count, asked.memories]);
    const isSame = before?.outline === outline;
    // Texts are many times as long as what is said about them.
    const page = isSame && !hasFailures(before.page.memories)
      ? before.page
      : await pageOf(client, place, asked);
    const { stats, countedAt } = isSame && Date.now() - before.countedAt < COUNTED_MS
      ? before
      : { stats: await client.stats(place.namespace), countedAt: Date.now() };
    return { page, outline, stats, countedAt };
  });
}

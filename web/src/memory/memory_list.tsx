/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import type { Memory } from "../../../src/client/results.ts";
import { useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import type { Loaded } from "../parts/use_load.ts";
import { bytesText, count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import { JobChip } from "./job_progress.tsx";
import { MemoryCards } from "./memory_cards.tsx";
import { mergePages, reaches } from "./memory_pages.ts";
import { loadOlder, type Overview } from "./overview.ts";
import { isPast, type ShownTime } from "./standing/shown_time.ts";

/** How a memory came here, where that says something to people. */
const ORIGINS: Readonly<Record<string, string>> = {
  analyze: "found in a conversation",
  import: "imported",
  restore: "put back",
};

/** Memories behind the first page. */
interface Older {
  readonly memories: readonly Memory[];
  readonly cursor?: string | undefined;
}

/** What was loaded behind the first page, and what first pages held since. */
function useOlder(
  value: Overview | undefined,
): [
  older: Older | undefined,
  setOlder: (next: Older) => void,
  /** Loads one of them anew. */
  renew: (id: string) => Promise<void>,
] {
  const session = useSession();
  const [older, setOlder] = useState<Older>();
  useEffect(() => {
    if (value === undefined) return;
    const { memories: newest, next_cursor: next } = value.page;
    setOlder((before) => {
      if (before === undefined || !reaches(newest, before.memories)) return undefined;
      const more = next !== undefined;
      return { ...before, memories: mergePages({ newest, more, before: before.memories }) };
    });
  }, [value?.page]);
  async function renew(id: string): Promise<void> {
    const now = await session.ask((client) => client.memory(id));
    setOlder((before) =>
      before && {
        ...before,
        memories: before.memories.map((item) => item.memory_id === id ? now : item),
      }
    );
  }
  return [older, setOlder, renew];
}

/** How much there is. */
function Amount({ total, bytes, time }: { total: number; bytes: number; time: ShownTime }) {
  if (isPast(time)) {
    return <p class="quiet small-text">{count(total, "memory", "memories")} of that day</p>;
  }
  return total === 0
    ? (
      <div class="empty">
        <h2>Nothing here yet</h2>
        <p class="quiet">Tell it something above, or connect an app that does.</p>
      </div>
    )
    : (
      <p class="quiet small-text">
        {count(total, "memory", "memories")}, {bytesText(bytes)} encrypted, newest first
      </p>
    );
}

/** What the list says of a memory besides. */
function about(memory: Memory) {
  const { source, trust, status } = memory;
  const origin = source === trust ? undefined : ORIGINS[source];
  return (
    <>
      {origin !== undefined && <span>{origin}</span>}
      {status !== "done" && <JobChip job={memory} />}
    </>
  );
}

function OlderButton({ onShow }: { onShow: () => Promise<void> }) {
  const action = useAction();
  return (
    <>
      <Failure error={action.error} />
      <div class="row">
        <button type="button" class="button" onClick={() => action.run(onShow)}>
          Show older ones
        </button>
      </div>
    </>
  );
}

/** The memories of a namespace, newest first. */
export function MemoryList(
  { namespace, time, overview, hidden, onChanged }: {
    namespace: string;
    time: ShownTime;
    overview: Loaded<Overview>;
    /** Ids that are shown elsewhere. */
    hidden: ReadonlySet<string>;
    /** Loads anew what a correction changes. */
    onChanged: () => Promise<void>;
  },
) {
  const session = useSession();
  const [older, setOlder, renew] = useOlder(overview.value);
  const { value } = overview;
  if (value === undefined) {
    return overview.error === undefined
      ? <p class="quiet">Loading…</p>
      : <Failure error={overview.error} retry={overview.reload} />;
  }
  const { memories: first, next_cursor: next } = value.page;
  const more = next !== undefined;
  const behind = older !== undefined && reaches(first, older.memories) ? older : undefined;
  const listed = mergePages({ newest: first, more, before: behind?.memories ?? [] });
  const { deletions } = session;
  const shown = listed.filter(({ memory_id: id }) => !hidden.has(id) && !deletions.hidden.has(id));
  const total = Math.max(0, value.page.total - deletions.waitingIn(namespace));
  const cursor = more && behind !== undefined ? behind.cursor : next;
  async function showOlder(): Promise<void> {
    const page = await loadOlder(session, { namespace, time, cursor });
    setOlder({ memories: [...listed, ...page.memories], cursor: page.next_cursor });
  }
  return (
    <section class="stack" aria-label="Memories">
      <Failure error={overview.error} retry={overview.reload} />
      {value.stats.pending > 0 && (
        <Notice>
          <p>{count(value.stats.pending, "memory is", "memories are")} being saved right now.</p>
        </Notice>
      )}
      <Amount total={total} bytes={value.stats.storage_bytes} time={time} />
      <MemoryCards
        memories={shown}
        time={time}
        about={about}
        onSettled={onChanged}
        onChanged={async (id) => {
          // Only the first page is loaded again and again.
          if (!first.some(({ memory_id }) => memory_id === id)) await renew(id);
          await onChanged();
        }}
      />
      {cursor !== undefined && <OlderButton onShow={showOlder} />}
    </section>
  );
}

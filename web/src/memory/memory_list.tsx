/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import type { Memory } from "../../../src/client/results.ts";
import { Failure, Notice } from "../parts/notice.tsx";
import type { Loaded } from "../parts/use_load.ts";
import { bytesText, count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import { deleteMemory } from "./delete_memory.ts";
import { JobChip } from "./job_progress.tsx";
import { MemoryCard } from "./memory_card.tsx";
import { mergePages, reaches } from "./memory_pages.ts";
import { loadOlder, type Overview } from "./overview.ts";

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
): [Older | undefined, (next: Older | ((before?: Older) => Older | undefined)) => void] {
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
  return [older, setOlder];
}

/** How much there is. */
function Amount({ total, bytes }: { total: number; bytes: number }) {
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

function Cards({ memories, onDelete }: {
  memories: readonly Memory[];
  onDelete: (id: string) => Promise<void>;
}) {
  return (
    <ul class="list">
      {memories.map((memory) => (
        <MemoryCard
          key={memory.memory_id}
          memory={memory}
          onDelete={() => onDelete(memory.memory_id)}
        >
          {ORIGINS[memory.source] !== undefined && <span>{ORIGINS[memory.source]}</span>}
          {memory.status !== "done" && <JobChip job={memory} />}
        </MemoryCard>
      ))}
    </ul>
  );
}

/** The memories of a namespace, newest first. */
export function MemoryList(
  { namespace, overview, hidden, onDeleted }: {
    namespace: string;
    overview: Loaded<Overview>;
    /** Ids that are shown elsewhere. */
    hidden: ReadonlySet<string>;
    /** Loads anew what a deletion changes. */
    onDeleted: () => Promise<void>;
  },
) {
  const session = useSession();
  const [older, setOlder] = useOlder(overview.value);
  const [error, setError] = useState<unknown>();
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
  const shown = listed.filter(({ memory_id }) => !hidden.has(memory_id));
  const cursor = more && behind !== undefined ? behind.cursor : next;
  async function showOlder(): Promise<void> {
    try {
      const page = await loadOlder(session, { namespace, cursor });
      setOlder({ memories: [...listed, ...page.memories], cursor: page.next_cursor });
      setError(undefined);
    } catch (thrown) {
      setError(thrown);
    }
  }
  async function remove(id: string): Promise<void> {
    await deleteMemory(session, id);
    setOlder((before) =>
      before && { ...before, memories: before.memories.filter((item) => item.memory_id !== id) }
    );
    await onDeleted();
  }
  return (
    <section class="stack" aria-label="Memories">
      <Failure error={overview.error} retry={overview.reload} />
      {value.stats.pending > 0 && (
        <Notice>
          <p>{count(value.stats.pending, "memory is", "memories are")} being saved right now.</p>
        </Notice>
      )}
      <Amount total={value.page.total} bytes={value.stats.storage_bytes} />
      <Cards memories={shown} onDelete={remove} />
      <Failure error={error} />
      {cursor !== undefined && (
        <div class="row">
          <button type="button" class="button" onClick={showOlder}>Show older ones</button>
        </div>
      )}
    </section>
  );
}

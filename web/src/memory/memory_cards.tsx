/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { focusOnCard } from "../parts/focus.ts";
import { useLoad } from "../parts/use_load.ts";
import { useSession } from "../use_session.ts";
import type { ShownMemory } from "./shown_memory.ts";
import { Conflict } from "./standing/conflict.tsx";
import { groupsOf } from "./standing/groups.ts";
import { noteKeptBoth, readKeptBoth } from "./standing/kept_both.ts";
import { Outcome } from "./standing/outcome.tsx";
import { keepsAll } from "./standing/pairs.ts";
import { isPast, type ShownTime, timeQuery } from "./standing/shown_time.ts";
import { Statement } from "./standing/statement.tsx";
import type { Settled, Settlement, Surroundings } from "./standing/surroundings.ts";

/** Settles what somebody decides about memories, and goes to where it is seen. */
function useSettling(onSettled: () => Promise<void>) {
  const session = useSession();
  const kept = useLoad(readKeptBoth, "kept both");
  const [settled, setSettled] = useState<Settled>();
  // Whoever keeps all, or decides once more, has them in one card as before.
  const [together, setTogether] = useState<readonly string[]>();
  async function settle(settlement: Settlement): Promise<void> {
    const { ids, keepsAll: isKept, goTo } = settlement;
    let error: unknown;
    try {
      await session.ask(settlement.work);
      await noteKeptBoth(ids, isKept);
      setTogether(isKept ? ids : undefined);
    } catch (failure) {
      error = failure;
    }
    // Also where it broke off half-way: what was pressed may be gone.
    await Promise.all([onSettled(), kept.reload()]);
    setSettled({ ...settlement, error });
    focusOnCard(goTo);
  }
  async function reopen(ids: readonly string[]): Promise<void> {
    await noteKeptBoth(ids, false);
    await kept.reload();
    setTogether(ids);
    setSettled(undefined);
    focusOnCard(ids[0]!);
  }
  const isKept = (ids: readonly string[]): boolean => keepsAll(kept.value ?? new Set(), ids);
  return { isKept, settled, together, settle, reopen };
}

/**
 * Memories as cards: those that disagree in one card, and below each what it took the place of.
 */
export function MemoryCards<M extends ShownMemory>(
  { memories, time, about, onChanged, onSettled }: {
    memories: readonly M[];
    time: ShownTime;
    /** What else is known of a memory. */
    about: (memory: M) => ComponentChildren;
    /** Loads anew what a correction of a memory changes. */
    onChanged: (memoryId: string) => Promise<void>;
    /** Loads everything anew: other memories count than before. */
    onSettled: () => Promise<void>;
  },
) {
  const { isKept, settled, together, settle, reopen } = useSettling(onSettled);
  const groups = groupsOf<ShownMemory>(memories, together);
  const isSeen = groups.some(({ statements }) =>
    statements.some(({ memory_id: id }) => id === settled?.goTo)
  );
  const byId = new Map(memories.map((memory) => [memory.memory_id, memory]));
  const surroundings: Surroundings = {
    at: isPast(time) ? Date.parse(timeQuery(time).as_of!) : undefined,
    withOver: time.withOver,
    settled,
    about: ({ memory_id: id }) => byId.has(id) ? about(byId.get(id)!) : undefined,
    onChanged,
    settle,
  };
  return (
    <>
      {settled !== undefined && !isSeen && <Outcome settled={settled} />}
      <ul class="list">
        {groups.map((group) => {
          const [first, ...others] = group.statements;
          const id = first!.memory_id;
          return others.length > 0
            ? (
              <Conflict
                key={id}
                group={group}
                isKept={isKept(group.statements.map((memory) => memory.memory_id))}
                surroundings={surroundings}
                onReopen={reopen}
              />
            )
            : (
              <li key={id} class="memory" data-memory={id}>
                <Statement
                  memory={first!}
                  replaced={group.replaced}
                  surroundings={surroundings}
                  onChanged={() => onChanged(id)}
                />
              </li>
            );
        })}
      </ul>
    </>
  );
}

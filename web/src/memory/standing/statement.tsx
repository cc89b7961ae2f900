/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { MemoryBody } from "../memory_body.tsx";
import type { ShownMemory } from "../shown_memory.ts";
import { Outcome } from "./outcome.tsx";
import { Replaced } from "./replaced.tsx";
import type { Surroundings } from "./surroundings.ts";

/** A memory that counts, with what it took the place of. */
export function Statement({ memory, isDated = false, replaced, surroundings, onChanged }: {
  memory: ShownMemory;
  /** Whether it is said above since when it counts. */
  isDated?: boolean;
  /** Memories it took the place of that are loaded already. */
  replaced: readonly ShownMemory[];
  surroundings: Surroundings;
  /** Loads anew what a correction changes. */
  onChanged: () => Promise<void>;
}) {
  const { at, settled, about } = surroundings;
  return (
    <>
      {settled?.goTo === memory.memory_id && <Outcome settled={settled} />}
      <MemoryBody memory={memory} at={at} isDated={isDated} onChanged={onChanged}>
        {about(memory)}
      </MemoryBody>
      <Replaced memory={memory} known={replaced} surroundings={surroundings} />
    </>
  );
}

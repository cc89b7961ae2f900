/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useId, useState } from "preact/hooks";
import type { SvcClient } from "../../../../src/client/client.ts";
import { SvcError } from "../../../../src/errors.ts";
import { Day } from "../../parts/moment.tsx";
import { Failure } from "../../parts/notice.tsx";
import { useLoad } from "../../parts/use_load.ts";
import { useSession } from "../../use_session.ts";
import { MemoryBody } from "../memory_body.tsx";
import { beginningOf, type ShownMemory } from "../shown_memory.ts";
import { type Choice, Choices } from "./choices.tsx";
import { newestFirst, startOf } from "./groups.ts";
import { letAllCount, takePlace } from "./settle.ts";
import { ONLY_THIS, type Surroundings } from "./surroundings.ts";

/** Most memories that are shown below the one that took their place. */
const MOST = 50;

/** What a memory replaced, the newest first. */
interface Loaded {
  readonly memories: readonly ShownMemory[];
  readonly hasMore: boolean;
}

async function memoryOrNothing(client: SvcClient, id: string): Promise<ShownMemory | undefined> {
  try {
    return await client.memory(id);
  } catch (error) {
    if (error instanceof SvcError && error.code === "memory_not_found") return undefined;
    throw error;
  }
}

/** Loads what a memory took the place of, and what that did before. */
async function load(
  client: SvcClient,
  memory: ShownMemory,
  known: ReadonlyMap<string, ShownMemory>,
): Promise<Loaded> {
  const found = new Map<string, ShownMemory>();
  const left = [...memory.supersedes ?? []];
  const listed = () => [...found.values()].sort(newestFirst);
  for (const id of left) {
    if (found.has(id) || id === memory.memory_id) continue;
    if (found.size === MOST) return { memories: listed(), hasMore: true };
    const one = known.get(id) ?? await memoryOrNothing(client, id);
    if (one?.superseded_by === undefined) continue;
    found.set(id, one);
    left.push(...one.supersedes ?? []);
  }
  return { memories: listed(), hasMore: false };
}

/** How a memory gets its place back, or that of the one that took it. */
function choicesFor(memory: ShownMemory, successor: ShownMemory): readonly Choice[] {
  const { memory_id: older } = memory;
  const { memory_id: newer } = successor;
  const ids = [newer, older];
  const beginning = <span class="unseen">{beginningOf(memory)}</span>;
  return [{
    words: <>Keep both{beginning}</>,
    settlement: {
      ids,
      goTo: newer,
      words: "Both count now: apps get the one and the other.",
      keepsAll: true,
      work: (client) => letAllCount(client, ids),
    },
  }, {
    words: <>The {isNewer(memory, successor) ? "newer" : "older"} one is right{beginning}</>,
    settlement: {
      ids,
      goTo: older,
      words: ONLY_THIS,
      keepsAll: false,
      work: (client) => takePlace(client, older, [newer]),
    },
  }];
}

const isNewer = (one: ShownMemory, other: ShownMemory) => newestFirst(one, other) < 0;

/** When a memory counted; of one that began to count later than what is right, only since when. */
function Span({ memory, successor }: { memory: ShownMemory; successor: ShownMemory }) {
  const start = startOf(memory);
  if (isNewer(memory, successor)) {
    return (
      <p class="label">
        Set aside{" "}
        <span class="dates">
          from <Day time={start} />
        </span>
      </p>
    );
  }
  const taken = startOf(successor);
  const { valid_to: ended = taken } = memory;
  const until = Date.parse(ended) < Date.parse(taken) ? ended : taken;
  return (
    <p class="label">
      Before{" "}
      <span class="dates">
        <Day time={start} /> – <Day time={until} />
      </span>
    </p>
  );
}

function ReplacedList({ id, memory, known, surroundings }: {
  id: string;
  memory: ShownMemory;
  known: readonly ShownMemory[];
  surroundings: Surroundings;
}) {
  const session = useSession();
  const { supersedes = [], memory_id: memoryId } = memory;
  const byId = new Map(known.map((one) => [one.memory_id, one]));
  // Of what a search found nobody has said which version it is.
  const listed = new Map([...byId].filter(([, { version }]) => version !== undefined));
  const loaded = useLoad(
    () => session.ask((client) => load(client, memory, listed)),
    `${memoryId} ${supersedes.join()} ${[...listed.values()].map(({ version }) => version).join()}`,
  );
  const { value } = loaded;
  const shown = value?.memories.filter((one) => !session.deletions.hidden.has(one.memory_id)) ?? [];
  const all = new Map([memory, ...shown].map((one) => [one.memory_id, one]));
  return (
    <section id={id} class="history stack" aria-label="What it replaced">
      <Failure error={loaded.error} retry={loaded.reload} />
      {value === undefined && loaded.error === undefined && <p class="quiet">Loading…</p>}
      {value !== undefined && shown.length === 0 && (
        <p class="quiet">What it replaced is not there any more.</p>
      )}
      <ol>
        {shown.map((one) => (
          <li key={one.memory_id} data-memory={one.memory_id}>
            <Span memory={one} successor={all.get(one.superseded_by ?? "") ?? memory} />
            <MemoryBody
              memory={one}
              isDated
              at={surroundings.at}
              onChanged={async () => {
                await loaded.reload();
                await surroundings.onChanged(one.memory_id);
              }}
            />
            {surroundings.at === undefined && (
              <Choices choices={choicesFor(one, memory)} settle={surroundings.settle} />
            )}
          </li>
        ))}
      </ol>
      {value?.hasMore && <p class="quiet">Only the newest {MOST} are shown.</p>}
    </section>
  );
}

/** What a memory took the place of, folded unless what is over is shown. */
export function Replaced({ memory, known, surroundings }: {
  memory: ShownMemory;
  /** Replaced memories that are loaded already. */
  known: readonly ShownMemory[];
  surroundings: Surroundings;
}) {
  const id = useId();
  const { memory_id: memoryId, supersedes = [] } = memory;
  const { withOver, settled } = surroundings;
  const [chosen, setChosen] = useState<boolean>();
  if (supersedes.length === 0) return null;
  const isOpen = chosen ?? (withOver || settled?.goTo === memoryId);
  return (
    <>
      <div class="row">
        <button
          type="button"
          class="button small"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setChosen(!isOpen)}
        >
          {isOpen ? "Hide" : "Show"} what it replaced ({supersedes.length.toLocaleString("en")})
        </button>
      </div>
      {isOpen && <ReplacedList id={id} memory={memory} known={known} surroundings={surroundings} />}
    </>
  );
}

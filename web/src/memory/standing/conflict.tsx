/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Day } from "../../parts/moment.tsx";
import { useLoad } from "../../parts/use_load.ts";
import { useSession } from "../../use_session.ts";
import { beginningOf, type ShownMemory } from "../shown_memory.ts";
import { type Choice, Choices } from "./choices.tsx";
import { type Group, startOf } from "./groups.ts";
import { letAllCount, takePlace } from "./settle.ts";
import { Statement } from "./statement.tsx";
import { ONLY_THIS, type Surroundings } from "./surroundings.ts";

/** Memories with what a search does not say of them: which version it is, and since when. */
function useVersions(statements: readonly ShownMemory[]) {
  const session = useSession();
  const unknown = statements.filter(({ version }) => version === undefined);
  const ids = unknown.map(({ memory_id: id }) => id).sort();
  const loaded = useLoad(
    () => session.ask((client) => Promise.all(ids.map((id) => client.memory(id)))),
    ids.join(),
  );
  const known = new Map(loaded.value?.map((memory) => [memory.memory_id, memory]));
  const whole = statements.map((memory): ShownMemory => {
    const { version, updated_at } = known.get(memory.memory_id) ?? {};
    return version === undefined || updated_at === undefined
      ? memory
      : { ...memory, version, updated_at };
  });
  return { statements: whole, reload: loaded.reload };
}

/** What a button says by which one of some memories is said to be right. */
function rightWords(statements: readonly ShownMemory[], at: number): ComponentChildren {
  if (statements.length === 2) return `The ${at === 0 ? "newer" : "older"} one is right`;
  if (at === 0) return "The newest one is right";
  return (
    <span>
      “<bdi>{beginningOf(statements[at]!)}</bdi>” is right
    </span>
  );
}

/** What can be done about memories that disagree. */
function choicesFor(statements: readonly ShownMemory[]): readonly Choice[] {
  const ids = statements.map(({ memory_id: id }) => id);
  const both = ids.length === 2 ? "both" : "all";
  const right = ids.map((id, at): Choice => ({
    words: rightWords(statements, at),
    settlement: {
      ids,
      goTo: id,
      words: ONLY_THIS,
      keepsAll: false,
      work: (client) => takePlace(client, id, ids.filter((other) => other !== id)),
    },
  }));
  return [...right, {
    words: `Keep ${both}`,
    settlement: {
      ids,
      goTo: ids[0]!,
      words: `You keep ${both}.`,
      keepsAll: true,
      work: (client) => letAllCount(client, ids),
    },
  }];
}

/** What stands above memories that disagree. */
function Head({ size, isKept }: { size: number; isKept: boolean }) {
  const [many, all] = size === 2 ? ["Two", "both"] : [size.toLocaleString("en"), "all"];
  return (
    <div class="row">
      <h3>{isKept ? `You keep ${all}` : `${many} memories disagree`}</h3>
      {!isKept && <span class="chip chip-warn">to decide</span>}
      <p class="quiet small-text whole">
        Apps get {isKept
          ? all
          : size === 2
          ? "both, the newer one first"
          : "all of them, the newest one first"}.
      </p>
    </div>
  );
}

/** Which of some memories one is, and when it is true. */
function Label({ memory, name }: { memory: ShownMemory; name: string }) {
  const { valid_to: until } = memory;
  return (
    <p class="label">
      {name}{" "}
      <span class="dates">
        since <Day time={startOf(memory)} />
        {until !== undefined && (
          <>
            {" until "}
            <Day time={until} />
          </>
        )}
      </span>
    </p>
  );
}

/** Memories that say different things about the same, in one card. */
export function Conflict({ group, isKept, surroundings, onReopen }: {
  group: Group<ShownMemory>;
  /** Whether the user wants all of them. */
  isKept: boolean;
  surroundings: Surroundings;
  /** The user wants to decide about some memories once more. */
  onReopen: (ids: readonly string[]) => Promise<void>;
}) {
  const { statements, reload } = useVersions(group.statements);
  const ids = statements.map(({ memory_id: id }) => id);
  const last = statements.length - 1;
  return (
    <li class={isKept ? "memory conflict kept" : "memory conflict"}>
      <Head size={statements.length} isKept={isKept} />
      <ol class="statements">
        {statements.map((memory, at) => (
          <li key={memory.memory_id} data-memory={memory.memory_id}>
            <Label memory={memory} name={at > 0 ? "Older" : last === 1 ? "Newer" : "Newest"} />
            <Statement
              memory={memory}
              isDated
              replaced={group.replaced}
              surroundings={surroundings}
              onChanged={async () => {
                await Promise.all([reload(), surroundings.onChanged(memory.memory_id)]);
              }}
            />
          </li>
        ))}
      </ol>
      {surroundings.at === undefined && !isKept && (
        <Choices
          question="Which is right?"
          choices={choicesFor(statements)}
          settle={surroundings.settle}
        />
      )}
      {surroundings.at === undefined && isKept && (
        <div class="row">
          <button
            type="button"
            class="button small bare"
            onClick={() => void onReopen(ids)}
          >
            Decide again
          </button>
        </div>
      )}
    </li>
  );
}

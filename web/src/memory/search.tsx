/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SvcClient } from "../../../src/client/client.ts";
import type { Hit, Recalled } from "../../../src/client/results.ts";
import { shown } from "../../../src/close_enough.ts";
import { useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import { MemoryCards } from "./memory_cards.tsx";
import { Fit } from "./standing/fit.tsx";
import { type ShownTime, timeQuery } from "./standing/shown_time.ts";

/** Most memories that are found. */
const MOST = 20;

/** What was found, and for what. */
interface Found {
  readonly query: string;
  readonly answer: Recalled;
}

/** Where a query is typed. */
function SearchField({ query, busy, onSearch, onType }: {
  query: string;
  busy: boolean;
  onSearch: () => void;
  onType: (text: string) => void;
}) {
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch();
      }}
    >
      <input
        type="search"
        dir="auto"
        aria-label="Search by meaning"
        placeholder="Search by meaning: what should I not cook?"
        value={query}
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <button class="button" type="submit" disabled={busy || query.trim() === ""}>
        {busy ? "Searching…" : "Search"}
      </button>
    </form>
  );
}

/** What there is to say of an answer besides its memories. */
function Remarks({ answer: { pending = 0, truncated, dropped_count: dropped = 0 } }: {
  answer: Recalled;
}) {
  return (
    <>
      {pending > 0 && (
        <Notice>
          <p>
            {count(pending, "memory is", "memories are")}{" "}
            still being saved and could not be searched yet.
          </p>
        </Notice>
      )}
      {truncated && (
        <Notice kind="warn">
          <p>More memories match: together they are too large for one answer.</p>
        </Notice>
      )}
      {dropped > 0 && (
        <Notice kind="warn">
          <p>{count(dropped, "match", "matches")} could not be opened.</p>
        </Notice>
      )}
    </>
  );
}

/** What was found, the best first; where nothing is close enough, what is nearest. */
function Matches({ found: { query, answer }, time, onChanged, onSettled, onClose }: {
  found: Found;
  time: ShownTime;
  onChanged: (id: string) => Promise<void>;
  onSettled: () => Promise<void>;
  onClose: () => void;
}) {
  const { deletions } = useSession();
  const [isWhole, setWhole] = useState(false);
  const isThere = ({ memory_id: id }: Hit) => !deletions.hidden.has(id);
  const { results, nearest } = shown(answer.results, isWhole ? 0 : undefined);
  const isNothing = nearest.length > 0;
  const listed = (isNothing ? nearest : results).filter(isThere);
  const left = answer.results.filter(isThere).length - listed.length;
  return (
    <section class="stack" aria-label="Matches">
      <div class="row between">
        <h2 aria-live="polite">
          {isNothing ? "Nothing close enough" : count(listed.length, "match", "matches")} for “<bdi>
            {query}
          </bdi>”
        </h2>
        <button type="button" class="button small" onClick={onClose}>
          Show all memories
        </button>
      </div>
      {isNothing && listed.length > 0 && (
        <p class="quiet">
          No memory seems to answer this.{" "}
          {listed.length === 1 ? "The nearest is" : "The nearest are"}:
        </p>
      )}
      <Remarks answer={answer} />
      <MemoryCards
        memories={listed}
        time={time}
        about={(hit) => <Fit hit={hit} />}
        onChanged={onChanged}
        onSettled={onSettled}
      />
      {left > 0 && (
        <div class="row">
          <button type="button" class="button small" onClick={() => setWhole(true)}>
            Show {count(left, "more that hardly fits", "more that hardly fit")}
          </button>
        </div>
      )}
    </section>
  );
}

/** Asks as an app does; what is over comes behind it, where it is wanted. */
async function find(
  client: SvcClient,
  query: string,
  namespace: string,
  time: ShownTime,
): Promise<Recalled> {
  const asked = { namespace, limit: MOST, ...timeQuery({ ...time, withOver: false }) };
  const answer = await client.recall(query, asked);
  if (!time.withOver) return answer;
  const { results } = await client.recall(query, { ...asked, include: "history" });
  const ids = new Set(answer.results.map(({ memory_id: id }) => id));
  const over = results.filter(({ memory_id: id }) => !ids.has(id));
  return { ...answer, results: [...answer.results, ...over] };
}

/** What was found last, and ways to find it again. */
function useFound(namespace: string, time: ShownTime, query: string) {
  const session = useSession();
  const action = useAction();
  const [found, setFound] = useState<Found>();
  const typed = useRef(query);
  typed.current = query;
  const asked = useRef(time);
  async function search(text: string): Promise<void> {
    asked.current = time;
    const answer = await session.ask((client) => find(client, text, namespace, time));
    // Whoever emptied the field meanwhile wants the list.
    if (typed.current !== "") setFound({ query: text, answer });
  }
  // Of another time, once a search under way has ended.
  useEffect(() => {
    if (found === undefined || action.busy || asked.current === time) return;
    action.run(() => search(found.query));
  }, [found, action.busy, time]);
  const { ended } = session.deletions;
  // What was deleted gives the place back that it took.
  useEffect(() => {
    if (ended > 0 && found !== undefined) action.run(() => search(found.query));
  }, [ended]);
  async function renew(id: string): Promise<void> {
    const { text = "" } = await session.ask((client) => client.memory(id));
    setFound((before) =>
      before && {
        ...before,
        answer: {
          ...before.answer,
          results: before.answer.results.map((hit) =>
            hit.memory_id === id ? { ...hit, text } : hit
          ),
        },
      }
    );
  }
  return { action, found, search, renew, close: () => setFound(undefined) };
}

/** Finds memories by meaning, as an app does, with how well each fits. */
export function Search({ namespace, time, filters, onChanged, children }: {
  namespace: string;
  time: ShownTime;
  /** Fields for the time; they are those of the list, too. */
  filters: ComponentChildren;
  onChanged: () => Promise<void>;
  /** Shown while nothing is searched for. */
  children: ComponentChildren;
}) {
  const [query, setQuery] = useState("");
  const { action, found, search, renew, close } = useFound(namespace, time, query);
  return (
    <>
      <SearchField
        query={query}
        busy={action.busy}
        onSearch={() => action.run(() => search(query))}
        onType={(text) => {
          setQuery(text);
          if (text === "") close();
        }}
      />
      {filters}
      <Failure error={action.error} />
      {/* Kept, so that what is being typed or saved survives a search. */}
      <div class="stack" hidden={found !== undefined}>{children}</div>
      {found !== undefined && (
        <Matches
          key={found.query}
          found={found}
          time={time}
          onChanged={async (id) => {
            await renew(id);
            await onChanged();
          }}
          onSettled={async () => {
            await Promise.all([search(found.query), onChanged()]);
          }}
          onClose={close}
        />
      )}
    </>
  );
}

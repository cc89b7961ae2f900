/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Recalled } from "../../../src/client/results.ts";
import { useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import { MemoryCard } from "./memory_card.tsx";

/** What was found, and for what. */
interface Found {
  readonly query: string;
  readonly answer: Recalled;
}

const percent = (score: number) => Math.round(Math.max(0, Math.min(1, score)) * 100);

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

/** What was found, the best first. */
function Matches({ found: { query, answer }, onChanged, onClose }: {
  found: Found;
  onChanged: (id: string) => Promise<void>;
  onClose: () => void;
}) {
  const { deletions } = useSession();
  const shown = answer.results.filter(({ memory_id: id }) => !deletions.hidden.has(id));
  return (
    <section class="stack" aria-label="Matches">
      <div class="row between">
        <h2 aria-live="polite">
          {count(shown.length, "match", "matches")} for “<bdi>{query}</bdi>”
        </h2>
        <button type="button" class="button small" onClick={onClose}>
          Show all memories
        </button>
      </div>
      {(answer.pending ?? 0) > 0 && (
        <Notice>
          <p>
            {count(answer.pending ?? 0, "memory is", "memories are")}{" "}
            still being saved and could not be searched yet.
          </p>
        </Notice>
      )}
      {answer.truncated && (
        <Notice kind="warn">
          <p>More memories match: together they are too large for one answer.</p>
        </Notice>
      )}
      {(answer.dropped_count ?? 0) > 0 && (
        <Notice kind="warn">
          <p>
            {count(answer.dropped_count ?? 0, "match", "matches")} could not be opened.
          </p>
        </Notice>
      )}
      <ul class="list">
        {shown.map((hit) => (
          <MemoryCard
            key={hit.memory_id}
            memory={hit}
            onChanged={() => onChanged(hit.memory_id)}
          >
            <span class="match">
              <meter aria-label="Match" min={0} max={100} value={percent(hit.score)} />
              <span>score {hit.score.toFixed(2)}</span>
            </span>
          </MemoryCard>
        ))}
      </ul>
    </section>
  );
}

/** Finds memories by meaning, as an app does, with how well each fits. */
export function Search({ namespace, onChanged, children }: {
  namespace: string;
  onChanged: () => void;
  /** Shown while nothing is searched for. */
  children: ComponentChildren;
}) {
  const session = useSession();
  const action = useAction();
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<Found>();
  const typed = useRef(query);
  typed.current = query;
  async function search(): Promise<void> {
    const answer = await session.ask((client) => client.recall(query, { namespace, limit: 20 }));
    // Whoever emptied the field meanwhile wants the list.
    if (typed.current !== "") setFound({ query, answer });
  }
  async function corrected(id: string): Promise<void> {
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
    onChanged();
  }
  return (
    <>
      <SearchField
        query={query}
        busy={action.busy}
        onSearch={() => action.run(search)}
        onType={(text) => {
          setQuery(text);
          if (text === "") setFound(undefined);
        }}
      />
      <Failure error={action.error} />
      {/* Kept, so that what is being typed or saved survives a search. */}
      <div class="stack" hidden={found !== undefined}>{children}</div>
      {found !== undefined && (
        <Matches
          found={found}
          onChanged={corrected}
          onClose={() => setFound(undefined)}
        />
      )}
    </>
  );
}

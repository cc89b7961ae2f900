/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import type { SvcClient } from "../../../src/client/client.ts";
import type { NamespaceInfo } from "../../../src/client/results.ts";
import { Compose } from "../memory/compose.tsx";
import { MemoryList } from "../memory/memory_list.tsx";
import { NamespaceList } from "../memory/namespace_list.tsx";
import { loadOverview, type Overview } from "../memory/overview.ts";
import { isPast, NOW, type ShownTime } from "../memory/standing/shown_time.ts";
import { TimeFields } from "../memory/standing/time_fields.tsx";
import { Reading } from "../memory/reading.tsx";
import { Search } from "../memory/search.tsx";
import { Upkeep } from "../memory/upkeep.tsx";
import { Link } from "../navigation.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { type Loaded, useLoad } from "../parts/use_load.ts";
import { useSession } from "../use_session.ts";

/** What others save shows up within this time, in milliseconds. */
const REFRESH_MS = 3000;

/** What the embedder does not read is looked for this often, in milliseconds. */
const READING_MS = 30_000;

/** Languages of memories that are found by words only. */
async function unreadLanguages(client: SvcClient): Promise<readonly string[]> {
  return (await client.account()).unread_languages ?? [];
}

/** Every namespace, also those behind the first page. */
async function allNamespaces(client: SvcClient): Promise<readonly NamespaceInfo[]> {
  const found: NamespaceInfo[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.namespaces({ cursor });
    found.push(...page.namespaces);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}

function totalOf(namespaces: readonly NamespaceInfo[] = []): number {
  return namespaces.reduce((sum, { memory_count: some }) => sum + some, 0);
}

/** What the apps of the user know. */
export function MemoriesPage() {
  const session = useSession();
  if (session.who?.active !== false) return <Shelf />;
  return (
    <Notice kind="warn">
      <p>Your account is switched off: nothing can be read or saved.</p>
      <Link to="/account">Switch it on again</Link>
    </Notice>
  );
}

/** The newest memories of a namespace and its numbers, loaded again and again. */
function useOverview(namespace: string, time: ShownTime): Loaded<Overview> {
  const session = useSession();
  const last = useRef<{ readonly place: string; readonly overview: Overview } | undefined>(
    undefined,
  );
  const place = JSON.stringify([namespace, time]);
  return useLoad(
    async () => {
      const before = last.current?.place === place ? last.current.overview : undefined;
      const overview = await loadOverview(session, { namespace, time }, before);
      last.current = { place, overview };
      return overview;
    },
    place,
    REFRESH_MS,
  );
}

function Title() {
  return (
    <div class="title">
      <h1>Memories</h1>
      <p class="quiet">What your apps know about you. Only keys you allow can read it.</p>
    </div>
  );
}

function Namespaces({ namespaces, isSilent, chosen, onChoose }: {
  namespaces: Loaded<readonly NamespaceInfo[]>;
  /** Whether a failure is not said. */
  isSilent: boolean;
  chosen: string;
  onChoose: (namespace: string) => void;
}) {
  return (
    <aside aria-label="Namespaces">
      <h2>Namespaces</h2>
      <p class="quiet small-text">Apps can keep topics apart. Most use “default”.</p>
      <NamespaceList namespaces={namespaces.value} chosen={chosen} onChoose={onChoose} />
      {!isSilent && <Failure error={namespaces.error} retry={namespaces.reload} />}
    </aside>
  );
}

/** Memories by namespace: new ones, search, list, upkeep. */
function Shelf() {
  const session = useSession();
  const [namespace, setNamespace] = useState("default");
  const [time, setTime] = useState(NOW);
  /** Memories that are shown on their way already. */
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set());
  const namespaces = useLoad(() => session.ask(allNamespaces), "namespaces", REFRESH_MS);
  const overview = useOverview(namespace, time);
  const { total = 0, history_count: over = 0 } = overview.value?.page ?? {};
  const reading = useLoad(() => session.ask(unreadLanguages), "reading", READING_MS);
  async function changed(): Promise<void> {
    await Promise.all([overview.reload(), namespaces.reload(), reading.reload()]);
  }
  const { ended } = session.deletions;
  useEffect(() => {
    if (ended > 0) void changed();
  }, [ended]);
  const filters = <TimeFields time={time} over={isPast(time) ? 0 : over} onChange={setTime} />;
  return (
    <>
      <Title />
      <div class="shelf">
        <Namespaces
          namespaces={namespaces}
          // One failure is said once.
          isSilent={overview.error !== undefined}
          chosen={namespace}
          onChoose={setNamespace}
        />
        <div key={namespace}>
          <Search
            namespace={namespace}
            time={time}
            filters={filters}
            onChanged={changed}
          >
            <Compose namespace={namespace} onSaved={changed} onWaiting={setWaiting} />
            <Reading languages={reading.value} />
            <MemoryList
              // What was loaded behind the first page is of another time.
              key={JSON.stringify(time)}
              namespace={namespace}
              time={time}
              overview={overview}
              hidden={waiting}
              onChanged={changed}
            />
            <Upkeep
              namespace={namespace}
              total={total + over}
              totalOfAll={totalOf(namespaces.value)}
              onChanged={changed}
            />
          </Search>
        </div>
      </div>
    </>
  );
}

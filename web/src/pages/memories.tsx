/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { Compose } from "../memory/compose.tsx";
import { MemoryList, type Overview } from "../memory/memory_list.tsx";
import { NamespaceList } from "../memory/namespace_list.tsx";
import { Search } from "../memory/search.tsx";
import { Upkeep } from "../memory/upkeep.tsx";
import { Link } from "../navigation.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useLoad } from "../parts/use_load.ts";
import type { Session } from "../session.ts";
import { useSession } from "../use_session.ts";

/** What others save shows up within this time, in milliseconds. */
const REFRESH_MS = 3000;

async function overviewOf(session: Session, namespace: string): Promise<Overview> {
  return await session.ask(async (client) => {
    const [page, stats] = await Promise.all([
      client.memories({ namespace, limit: 50 }),
      client.stats(namespace),
    ]);
    return {
      memories: page.memories,
      total: page.total,
      nextCursor: page.next_cursor,
      pending: stats.pending,
      storageBytes: stats.storage_bytes,
    };
  });
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

/** Memories by namespace: new ones, search, list, upkeep. */
function Shelf() {
  const session = useSession();
  const [namespace, setNamespace] = useState("default");
  /** Memories that are shown on their way already. */
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set());
  const namespaces = useLoad(
    () => session.ask((client) => client.namespaces()),
    "namespaces",
    REFRESH_MS,
  );
  const overview = useLoad(() => overviewOf(session, namespace), namespace, REFRESH_MS);
  async function changed(): Promise<void> {
    await Promise.all([overview.reload(), namespaces.reload()]);
  }
  return (
    <>
      <div class="title">
        <h1>Memories</h1>
        <p class="quiet">What your apps know about you. Only keys you allow can read it.</p>
      </div>
      <div class="shelf">
        <aside aria-label="Namespaces">
          <h2>Namespaces</h2>
          <p class="quiet small-text">Apps can keep topics apart. Most use “default”.</p>
          <NamespaceList
            namespaces={namespaces.value?.namespaces}
            chosen={namespace}
            onChoose={setNamespace}
          />
          {overview.error === undefined && (
            <Failure error={namespaces.error} retry={namespaces.reload} />
          )}
        </aside>
        <div key={namespace}>
          <Search namespace={namespace} onDeleted={changed}>
            <Compose namespace={namespace} onSaved={changed} onWaiting={setWaiting} />
            <MemoryList
              namespace={namespace}
              overview={overview}
              hidden={waiting}
              onDeleted={changed}
            />
            <Upkeep namespace={namespace} total={overview.value?.total ?? 0} onChanged={changed} />
          </Search>
        </div>
      </div>
    </>
  );
}

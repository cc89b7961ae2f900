/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { MemoryBody } from "../memory/memory_body.tsx";
import { Link } from "../navigation.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useLoad } from "../parts/use_load.ts";
import { namespaceName } from "../text/namespace_name.ts";
import { useSession } from "../use_session.ts";

/** The id behind the `#`, where no server is told of it; `undefined` for anything else. */
function idInAddress(): string | undefined {
  return /^#([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(location.hash)?.[1];
}

function useIdInAddress(): string | undefined {
  const [id, setId] = useState(idInAddress);
  useEffect(() => {
    const update = () => setId(idInAddress());
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return id;
}

/** The memory with an id. */
function Shown({ id }: { id: string }) {
  const session = useSession();
  const loaded = useLoad(() => session.ask((client) => client.memory(id)), id);
  const memory = loaded.value;
  const isGone = session.deletions.hidden.has(id);
  return (
    <>
      <Failure error={loaded.error} retry={loaded.reload} />
      {memory === undefined && loaded.error === undefined && <p class="quiet">Loading…</p>}
      {memory !== undefined && !isGone && (
        <ul class="list">
          <li class="card memory">
            <MemoryBody memory={memory} onChanged={loaded.reload}>
              <span>
                in <bdi class="exact">{namespaceName(memory.namespace)}</bdi>
              </span>
            </MemoryBody>
          </li>
        </ul>
      )}
      {isGone && <p class="quiet">This memory is deleted.</p>}
    </>
  );
}

/** `/memory#<id>`: one memory, as a source that an app named. */
export function MemoryPage() {
  const id = useIdInAddress();
  return (
    <>
      <div class="title">
        <h1>A memory</h1>
        <p class="quiet">
          <Link to="/memories">All memories</Link>
        </p>
      </div>
      {id === undefined
        ? (
          <Notice kind="warn">
            <p>This address names no memory.</p>
          </Notice>
        )
        : <Shown key={id} id={id} />}
    </>
  );
}

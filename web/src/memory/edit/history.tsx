/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { SvcClient } from "../../../../src/client/client.ts";
import type { UpdateAccepted } from "../../../../src/client/results.ts";
import { type Action, useAction } from "../../parts/action.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Failure } from "../../parts/notice.tsx";
import { useLoad } from "../../parts/use_load.ts";
import { useSession } from "../../use_session.ts";

/** Versions that are shown at first, and with each further step. */
const STEP = 10;

/** What a memory said once. */
interface Said {
  readonly version: number;
  /** When it was written. */
  readonly at: string;
  /** Absent where it cannot be opened. */
  readonly text: string | undefined;
  /** Whether the version before has the same words. */
  readonly isSame: boolean;
}

/** The newest versions, the first of which is the present one. */
interface Versions {
  readonly said: readonly Said[];
  readonly total: number;
}

async function load(client: SvcClient, memoryId: string, wanted: number): Promise<Versions> {
  const { text, version: newest, versions } = await client.memory(memoryId);
  const said: Omit<Said, "isSame">[] = [];
  for (const { version, created_at: at } of versions.slice(0, wanted)) {
    const then = version === newest ? { text } : await client.memory(memoryId, { version });
    said.push({ version, at, text: then.text });
  }
  const isSame = (at: number) =>
    said[at]?.text !== undefined && said[at].text === said[at + 1]?.text;
  return { said: said.map((one, at) => ({ ...one, isSame: isSame(at) })), total: versions.length };
}

function Version({ said, isNow, action, onBack }: {
  said: Said;
  isNow: boolean;
  action: Action;
  onBack: () => Promise<void>;
}) {
  return (
    <li>
      <p class="text" dir="auto">{said.text ?? "This version cannot be opened right now."}</p>
      <div class="foot">
        <span>
          {isNow ? "as it is now, since " : "written "}
          <Moment time={said.at} />
        </span>
        {said.isSame && <span>the same words; something else was changed</span>}
        {!isNow && said.text !== undefined && (
          <span class="end">
            <button
              type="button"
              class="button small"
              disabled={action.busy}
              onClick={() => action.run(onBack)}
            >
              Go back to this<span class="unseen">{said.text.slice(0, 60)}</span>
            </button>
          </span>
        )}
      </div>
    </li>
  );
}

/** What a memory said before, newest first, and a way back. */
export function History({ memoryId, version, id, onAccepted }: {
  memoryId: string;
  /** The version that the list shows: with another one there is more to be read. */
  version: number | undefined;
  /** Id of the element, for what opens it. */
  id: string;
  /** The relayer has taken an earlier version as the newest one. */
  onAccepted: (accepted: UpdateAccepted) => void;
}) {
  const session = useSession();
  const action = useAction();
  const [wanted, setWanted] = useState(STEP);
  const versions = useLoad(
    () => session.ask((client) => load(client, memoryId, wanted)),
    `${memoryId} ${version} ${wanted}`,
  );
  const [last, setLast] = useState<Versions>();
  if (versions.value !== undefined && versions.value !== last) setLast(versions.value);
  const { said, total } = versions.value ?? last ?? { said: [], total: 0 };
  async function goBack({ version: from }: Said): Promise<void> {
    const update = { from_version: from, expected_version: said[0]!.version };
    try {
      onAccepted(await session.ask((client) => client.updateMemory(memoryId, update)));
    } catch (error) {
      await versions.reload();
      throw error;
    }
  }
  return (
    <section id={id} class="history stack" aria-label="History">
      <h3>History</h3>
      <Failure error={versions.error} retry={versions.reload} />
      {said.length === 0 && versions.error === undefined && <p class="quiet">Loading…</p>}
      {said.length > 0 && (
        <ol>
          {said.map((one, i) => (
            <Version
              key={one.version}
              said={one}
              isNow={i === 0}
              action={action}
              onBack={() => goBack(one)}
            />
          ))}
        </ol>
      )}
      {total === 1 && <p class="quiet">Earlier versions are not kept here.</p>}
      {total > said.length && (
        <button
          type="button"
          class="button small"
          onClick={() => setWanted(wanted + STEP)}
        >
          Show older versions
        </button>
      )}
      <Failure error={action.error} />
    </section>
  );
}

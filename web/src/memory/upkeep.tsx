/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import { Forget } from "./delete/forget.tsx";
import { ExportFile } from "./export/export_file.tsx";
import { ImportFile } from "./import/import_file.tsx";

/** Records that one step of a repair puts back, and the most that a step may look at. */
const STEP = 25;
const LARGEST_STEP = 500;

/** How far a repair is. */
interface Progress {
  readonly total: number;
  readonly restored: number;
  readonly failed: number;
  readonly remaining: number;
}

function Repair({ namespace, onChanged }: { namespace: string; onChanged: () => void }) {
  const session = useSession();
  const action = useAction();
  const [progress, setProgress] = useState<Progress>();
  async function repair(): Promise<void> {
    setProgress(undefined);
    let restored = 0;
    let limit = STEP;
    for (;;) {
      const step = await session.ask((client) => client.restore(namespace, limit));
      restored += step.restored;
      setProgress({ ...step, restored });
      onChanged();
      // Every step meets the records that cannot be read again: it must be able to pass them.
      const next = Math.min(LARGEST_STEP, STEP + step.failed);
      if (step.remaining === 0 || (step.restored === 0 && next <= limit)) return;
      limit = next;
    }
  }
  const missing = progress && progress.restored + progress.failed + progress.remaining;
  return (
    <div class="stack">
      <h3>Repair the search</h3>
      <p class="quiet">
        For when a memory is missing here: looks at every stored record and puts back what the
        search does not know. Harmless at any time.
      </p>
      <button
        type="button"
        class="button"
        disabled={action.busy}
        aria-busy={action.busy}
        onClick={() => action.run(repair)}
      >
        {action.busy ? "Repairing…" : "Repair"}
      </button>
      {(action.busy || (missing ?? 0) > 0) && (
        <progress
          aria-label="Repair"
          {...(progress === undefined
            ? {}
            : { max: Math.max(1, missing ?? 1), value: progress.restored + progress.failed })}
        />
      )}
      {progress !== undefined && (
        <Notice kind={progress.failed > 0 ? "warn" : "good"}>
          <p>
            {count(progress.total, "record", "records")} looked at, {progress.restored} put back
            {progress.failed > 0 && `, ${progress.failed} cannot be read`}
            {progress.remaining > 0 && `, ${progress.remaining} to go`}.
          </p>
        </Notice>
      )}
      <Failure error={action.error} />
    </div>
  );
}

/** What is done rarely: import, export, repair, forget. */
export function Upkeep(
  props: { namespace: string; total: number; totalOfAll: number; onChanged: () => void },
) {
  return (
    <details>
      <summary>Import, export, repair, forget</summary>
      <div class="upkeep card">
        <ImportFile {...props} />
        <ExportFile {...props} />
        <Repair {...props} />
        <Forget {...props} />
      </div>
    </details>
  );
}

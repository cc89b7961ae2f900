/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect } from "preact/hooks";
import { useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { Pause } from "../parts/pause.tsx";
import { count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import type { FileImport } from "./file_import.ts";
import { isNdjsonName, readImport, textOf } from "./import_lines.ts";

function Outcome({ work }: { work: FileImport }) {
  const { total, done, failed, skipped, reason } = work.progress;
  return (
    <>
      <progress aria-label="Import" max={total} value={done + failed} />
      <Notice kind={failed + skipped > 0 ? "warn" : "good"}>
        <p>
          {done} of {count(total, "memory", "memories")} saved
          {failed > 0 && `, ${failed} failed`}
          {failed > 0 && reason !== undefined && ` (${reason})`}
          {skipped > 0 && `, ${count(skipped, "line holds", "lines hold")} no memory`}.
        </p>
      </Notice>
      <Pause until={work.pausedUntil} />
      <Failure error={work.error} />
      {work.error !== undefined && (
        <button
          type="button"
          class="button"
          onClick={() => void work.run()}
        >
          Go on with the rest
        </button>
      )}
    </>
  );
}

/** Saves what a file holds, with its progress. */
export function ImportFile(
  { namespace, onChanged }: { namespace: string; onChanged: () => void },
) {
  const session = useSession();
  const action = useAction();
  const work = session.imports.get(namespace);
  const busy = action.busy || work?.running === true;
  const saved = work?.progress.done ?? 0;
  useEffect(() => {
    if (saved > 0) onChanged();
  }, [saved]);
  // What came to its end was seen; what did not is found here again.
  useEffect(() => () => {
    const last = session.imports.get(namespace);
    if (last?.running === false && last.error === undefined) session.imports.delete(namespace);
  }, [session, namespace]);
  async function load(file: File): Promise<void> {
    session.imports.delete(namespace);
    const lines = readImport(await textOf(file), isNdjsonName(file.name));
    if (lines.items.length === 0) throw new Error("There is nothing to import in this file");
    await session.startImport(namespace, lines);
  }
  return (
    <div class="stack">
      <h3>Import a file</h3>
      <p class="quiet">
        A text with one memory on each line, or NDJSON with a <code>text</code>{" "}
        in each line's object. The memories go to the namespace{" "}
        <strong class="exact">{namespace}</strong>.
      </p>
      <label>
        File
        <input
          type="file"
          accept=".txt,.md,.ndjson,.jsonl,text/plain,application/x-ndjson"
          disabled={busy}
          onChange={(event) => {
            const input = event.currentTarget;
            const file = input.files?.[0];
            if (file === undefined) return;
            action.run(() => load(file));
            // The same file can be chosen again.
            input.value = "";
          }}
        />
      </label>
      {work !== undefined && <Outcome work={work} />}
      <Failure error={action.error} />
    </div>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { count } from "../text/format.ts";
import { useSession } from "../use_session.ts";
import { readImport } from "./import_lines.ts";

/** Memories of one request. */
const BATCH = 20;

/** How far an import is. */
interface Progress {
  readonly total: number;
  readonly skipped: number;
  readonly done: number;
  readonly failed: number;
}

/** Saves what a file holds, with its progress. */
export function ImportFile(
  { namespace, onChanged }: { namespace: string; onChanged: () => void },
) {
  const session = useSession();
  const action = useAction();
  const [progress, setProgress] = useState<Progress>();
  async function load(file: File): Promise<void> {
    setProgress(undefined);
    const { items, skipped } = readImport(await file.text());
    if (items.length === 0) throw new Error("There is nothing to import in this file");
    let state: Progress = { total: items.length, skipped, done: 0, failed: 0 };
    setProgress(state);
    for (let start = 0; start < items.length; start += BATCH) {
      const batch = items.slice(start, start + BATCH)
        .map((item) => ({ ...item, namespace }));
      const { job_ids } = await session.ask((client) => client.rememberBulk(batch));
      const { results } = await session.ask((client) =>
        client.waitForAll(job_ids, { until: "recallable" })
      );
      const failed = results.filter(({ status }) => status === "failed").length;
      state = {
        ...state,
        done: state.done + results.length - failed,
        failed: state.failed + failed,
      };
      setProgress(state);
      onChanged();
    }
  }
  return (
    <div class="stack">
      <h3>Import a file</h3>
      <p class="quiet">
        A text with one memory on each line, or NDJSON with a <code>text</code>{" "}
        in each line's object. The memories go to the namespace <strong>{namespace}</strong>.
      </p>
      <label>
        File
        <input
          type="file"
          accept=".txt,.md,.ndjson,.jsonl,text/plain,application/x-ndjson"
          disabled={action.busy}
          onChange={(event) => {
            const input = event.currentTarget;
            const file = input.files?.[0];
            if (file === undefined) return;
            action.run(async () => {
              await load(file);
              input.value = "";
            });
          }}
        />
      </label>
      {progress !== undefined && (
        <>
          <progress
            aria-label="Import"
            max={progress.total}
            value={progress.done + progress.failed}
          />
          <Notice kind={progress.failed + progress.skipped > 0 ? "warn" : "good"}>
            <p>
              {progress.done} of {count(progress.total, "memory", "memories")} saved
              {progress.failed > 0 && `, ${progress.failed} failed`}
              {progress.skipped > 0 && `, ${progress.skipped} lines had no text`}.
            </p>
          </Notice>
        </>
      )}
      <Failure error={action.error} />
    </div>
  );
}

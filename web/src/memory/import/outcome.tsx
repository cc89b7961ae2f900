/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useRef } from "preact/hooks";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Pause } from "../../parts/pause.tsx";
import { count } from "../../text/format.ts";
import type { FileImport, ImportProgress } from "./file_import.ts";

/** Refusals that are listed. */
const LISTED = 20;

/** What became of the lines so far, in words. */
function sentences(progress: ImportProgress): string[] {
  const { taken, exists, older, deleted, expired, refused, parts, read, facts } = progress;
  return [
    ...taken > 0 ? [`${taken.toLocaleString("en")} taken`] : [],
    ...exists > 0 ? [`${exists.toLocaleString("en")} already there`] : [],
    ...older > 0 ? [`${older.toLocaleString("en")} older than what is here`] : [],
    ...deleted > 0 ? [`${deleted.toLocaleString("en")} deleted here earlier`] : [],
    ...expired > 0 ? [`${expired.toLocaleString("en")} ended in the meantime`] : [],
    ...refused > 0 ? [`${refused.toLocaleString("en")} refused`] : [],
    ...parts > 0
      ? [
        `${read.toLocaleString("en")} of ${count(parts, "part", "parts")} of conversations read, ` +
        `${count(facts, "new fact", "new facts")} found`,
      ]
      : [],
  ];
}

function Refusals({ progress: { refused, refusals } }: { progress: ImportProgress }) {
  if (refusals.length === 0) return null;
  return (
    <details>
      <summary>Why {count(refused, "was", "were")} refused</summary>
      <ul class="points small-text">
        {refusals.slice(0, LISTED).map(({ where, reason }, i) => (
          <li key={i}>
            {where}: {reason}
          </li>
        ))}
        {refused > LISTED && <li>and {(refused - LISTED).toLocaleString("en")} more</li>}
      </ul>
    </details>
  );
}

/** What an import came to, once it rests. */
function Rest({ work }: { work: FileImport }) {
  const { progress, remarks, isDone } = work;
  const { total, sent, deleted, refused } = progress;
  const isGood = isDone && refused === 0 && remarks.length === 0;
  return (
    <>
      <Notice kind={isGood ? "good" : "warn"}>
        <p>
          {isDone
            ? total === 0 ? "Imported" : `${count(total, "memory", "memories")} imported`
            : `Stopped after ${sent.toLocaleString("en")} of ${count(total, "memory", "memories")}`}
          : {sentences(progress).join(", ") || "nothing taken"}.
        </p>
        {remarks.map((remark) => <p key={remark}>{remark}</p>)}
        <p class="small-text">Repeating it is safe: no memory is taken twice.</p>
      </Notice>
      <Failure error={work.error} />
      <div class="row">
        {!isDone && (
          <button type="button" class="button" onClick={() => void work.run()}>
            Go on with the rest
          </button>
        )}
        {isDone && deleted > 0 && (
          <button
            type="button"
            class="button"
            onClick={() => void work.bringBack()}
          >
            Bring {deleted === 1 ? "the deleted one" : `the ${deleted} deleted ones`} back
          </button>
        )}
      </div>
    </>
  );
}

/** How far an import is, or what it came to. */
export function Outcome({ work }: { work: FileImport }) {
  const { progress } = work;
  const { total, sent, parts, read } = progress;
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that began it is gone.
    if (document.activeElement === document.body) region.current?.focus();
  }, []);
  return (
    <div ref={region} class="stack" role="group" aria-label="Progress of the import" tabIndex={-1}>
      <progress aria-label="Import" max={total + parts} value={sent + read} />
      {work.running
        ? (
          <>
            <div class="row between">
              <p class="grow small-text">
                {total > 0 &&
                  `${sent.toLocaleString("en")} of ${count(total, "memory", "memories")}: `}
                {sentences(progress).join(", ") || "sending…"}
              </p>
              <button
                type="button"
                class="button small"
                onClick={() => work.stop()}
              >
                Stop
              </button>
            </div>
            <Pause until={work.pausedUntil} />
          </>
        )
        : <Rest work={work} />}
      <Refusals progress={progress} />
    </div>
  );
}

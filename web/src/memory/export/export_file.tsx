/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { Failure, Notice } from "../../parts/notice.tsx";
import { bytesText, count } from "../../text/format.ts";
import { namespaceName } from "../../text/namespace_name.ts";
import { useSession } from "../../use_session.ts";
import type { FileExport } from "./file_export.ts";

function Outcome({ work, file }: { work: FileExport; file: Blob }) {
  const { memories, encrypted, unopened } = work.progress;
  return (
    <Notice kind={encrypted + unopened > 0 ? "warn" : "good"}>
      <p>
        {count(memories, "memory", "memories")} exported, {bytesText(file.size)}.
      </p>
      {encrypted > 0 && (
        <p>
          {count(encrypted, "memory is", "memories are")}{" "}
          not in it: the app that saved it encrypted it, and only that app can read it.
        </p>
      )}
      {unopened > 0 && (
        <p>
          {count(unopened, "memory", "memories")} could not be opened and{" "}
          {unopened === 1 ? "is" : "are"} not in it. Try again later.
        </p>
      )}
      <p class="small-text">The file is not encrypted: keep it where only you can read it.</p>
      <button type="button" class="button small" onClick={() => work.save()}>
        Save the file again
      </button>
    </Notice>
  );
}

function Progress({ work }: { work: FileExport }) {
  const { memories, encrypted, unopened } = work.progress;
  const seen = memories + encrypted + unopened;
  return (
    <>
      <progress aria-label="Export" max={Math.max(work.expected, seen, 1)} value={seen} />
      <div class="row between">
        <p class="grow small-text">{count(memories, "memory", "memories")} so far</p>
        <button type="button" class="button small" onClick={() => work.stop()}>Stop</button>
      </div>
    </>
  );
}

/** Saves memories as a file: those of a namespace, or all. */
export function ExportFile({ namespace, total, totalOfAll }: {
  namespace: string;
  /** Memories in it. */
  total: number;
  /** Memories in all namespaces. */
  totalOfAll: number;
}) {
  const session = useSession();
  const work = session.exporting;
  const busy = work?.running === true;
  return (
    <div class="stack">
      <h3>Export</h3>
      <p class="quiet">
        A file with every memory as it is now, with ids and times. It can be imported here, into
        another account, or at another relayer.
      </p>
      <div class="row">
        <button
          type="button"
          class="button"
          disabled={busy}
          onClick={() => session.startExport(namespace, total)}
        >
          Export <bdi class="exact">{namespaceName(namespace)}</bdi>
        </button>
        <button
          type="button"
          class="button"
          disabled={busy}
          onClick={() => session.startExport(undefined, totalOfAll)}
        >
          Export everything
        </button>
      </div>
      {work?.running === true && <Progress work={work} />}
      {work?.file !== undefined && <Outcome work={work} file={work.file} />}
      {work?.isStopped === true && !work.running && (
        <Notice>
          <p>Stopped. There is no file.</p>
        </Notice>
      )}
      <Failure error={work?.error} />
    </div>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../parts/action.tsx";
import { Failure } from "../../parts/notice.tsx";
import { namespaceName } from "../../text/namespace_name.ts";
import { useSession } from "../../use_session.ts";
import { Outcome } from "./outcome.tsx";
import { Preview } from "./preview.tsx";
import { asTextLines, needsPreview, planOf, type ReadFiles, readFiles } from "./read_files.ts";

const ACCEPTED = ".txt,.md,.markdown,.ndjson,.jsonl,.json,text/plain,application/json";

/** Files that were read, and wait to be looked at. */
interface Waiting {
  readonly read: ReadFiles;
  readonly chosen: readonly File[];
}

/** Reads files, asks where something is to be decided, and imports them. */
function useImport(namespace: string) {
  const session = useSession();
  const action = useAction();
  const [waiting, setWaiting] = useState<Waiting>();
  function start(read: ReadFiles, isAllInto: boolean): void {
    setWaiting(undefined);
    session.startImport(planOf(read, namespace, isAllInto));
  }
  function take(read: ReadFiles, chosen: readonly File[]): void {
    const [only] = read.files;
    if (read.files.length === 1 && only?.error !== undefined) throw only.error;
    if (needsPreview(read)) return setWaiting({ read, chosen });
    if (planOf(read, namespace, false).items.length === 0) {
      throw new Error("There is nothing to import in this file");
    }
    start(read, false);
  }
  return {
    action,
    waiting,
    start,
    close: () => setWaiting(undefined),
    choose: (chosen: readonly File[]) =>
      action.run(async () => {
        setWaiting(undefined);
        session.imports.delete(namespace);
        take(await readFiles(chosen, namespace), chosen);
      }),
    chooseAsText: (chosen: readonly File[]) =>
      action.run(async () =>
        take({ files: await Promise.all(chosen.map(asTextLines)), namespaces: [] }, chosen)
      ),
  };
}

/** A field for files. */
function Files({ field, disabled, onChoose }: {
  field: RefObject<HTMLInputElement | null>;
  disabled: boolean;
  onChoose: (files: readonly File[]) => void;
}) {
  return (
    <label>
      File
      <input
        ref={field}
        type="file"
        multiple
        accept={ACCEPTED}
        disabled={disabled}
        onChange={(event) => {
          const input = event.currentTarget;
          const files = [...input.files ?? []];
          if (files.length > 0) onChoose(files);
          // The same file can be chosen again.
          input.value = "";
        }}
      />
    </label>
  );
}

/** A field for files, what is in them, and what becomes of it. */
export function ImportFile(
  { namespace, onChanged }: { namespace: string; onChanged: () => void },
) {
  const session = useSession();
  const field = useRef<HTMLInputElement>(null);
  const { action, waiting, start, close, choose, chooseAsText } = useImport(namespace);
  const work = session.imports.get(namespace);
  const busy = action.busy || work?.running === true;
  const { taken = 0, facts = 0 } = work?.progress ?? {};
  useEffect(() => {
    if (taken + facts > 0) onChanged();
  }, [taken, facts]);
  // What came to its end was seen; what did not is found here again.
  useEffect(() => () => {
    if (session.imports.get(namespace)?.isDone === true) session.imports.delete(namespace);
  }, [session, namespace]);
  const isNotes = waiting?.read.files.some(({ found }) => found?.format === "markdown");
  return (
    <div class="stack">
      <h3>Import files</h3>
      <p class="quiet">
        An export of svc, a text with one memory on each line, or files of ChatGPT, Claude, mem0 and
        others. Memories go to{" "}
        <strong class="exact">{namespaceName(namespace)}</strong>, unless a file names another
        namespace.
      </p>
      <Files field={field} disabled={busy} onChoose={choose} />
      {action.busy && <p class="quiet" role="status">Reading…</p>}
      {waiting !== undefined && (
        <Preview
          read={waiting.read}
          namespace={namespace}
          onImport={(isAllInto) => start(waiting.read, isAllInto)}
          onAsText={isNotes ? () => chooseAsText(waiting.chosen) : undefined}
          onClose={() => {
            close();
            field.current?.focus();
          }}
        />
      )}
      {work !== undefined && <Outcome work={work} />}
      <Failure error={action.error} />
    </div>
  );
}

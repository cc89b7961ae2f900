/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SvcClient } from "../../../../src/client/client.ts";
import type { UpdateAccepted } from "../../../../src/client/results.ts";
import { randomUuid } from "../../../../src/client/transport.ts";
import { SvcError } from "../../../../src/errors.ts";
import { useAction } from "../../parts/action.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { useSession } from "../../use_session.ts";
import type { ShownMemory } from "../shown_memory.ts";
import { type MemoryNow, newerThan } from "./newest.ts";

/** A change, sent again under its key when nobody heard of the answer. */
interface Sent {
  readonly text: string;
  readonly version: number | undefined;
  readonly idempotencyKey: string;
}

/** What somebody else wrote meanwhile, and a choice. */
function Conflict({ theirs, seen, onMine, onTheirs }: {
  theirs: MemoryNow;
  /** Version that was edited. */
  seen: number;
  onMine: () => void;
  onTheirs: () => void;
}) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), [theirs]);
  return (
    <Notice kind="warn">
      {theirs.version === seen
        ? <p>Somebody else is changing this memory, and their text cannot be read yet.</p>
        : (
          <>
            <p>Somebody else changed this memory while you wrote. It says now:</p>
            <p class="text theirs" dir="auto">{theirs.text ?? "(encrypted by an app)"}</p>
          </>
        )}
      <div class="row">
        <button ref={first} type="button" class="button small" onClick={onMine}>
          Take mine
        </button>
        <button type="button" class="button small" onClick={onTheirs}>Keep theirs</button>
      </div>
    </Notice>
  );
}

/** Sends corrections, each once, and finds out what stands against them. */
function useSave(memory: ShownMemory, onAccepted: (accepted: UpdateAccepted) => void) {
  const session = useSession();
  const [theirs, setTheirs] = useState<MemoryNow>();
  const last = useRef<Sent>(undefined);

  /** Version that the text which is edited has; of what a search found nobody has said it. */
  async function baseOf(client: SvcClient): Promise<number | MemoryNow> {
    if (memory.version !== undefined) return memory.version;
    const now = await client.memory(memory.memory_id);
    return now.text === memory.text ? now.version : now;
  }

  async function send(text: string, version: number | undefined): Promise<void> {
    const { memory_id: id } = memory;
    if (last.current?.text !== text || last.current.version !== version) {
      last.current = { text, version, idempotencyKey: randomUuid() };
    }
    const control = last.current;
    const update = { text, ...(version === undefined ? {} : { expected_version: version }) };
    try {
      onAccepted(await session.ask((client) => client.updateMemory(id, update, control)));
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "version_conflict") throw error;
      last.current = undefined;
      setTheirs(await session.ask((client) => newerThan(client, id, version ?? 0)));
    }
  }

  async function save(text: string): Promise<void> {
    const base = await session.ask(baseOf);
    if (typeof base === "number") await send(text, base);
    else setTheirs(base);
  }

  async function takeMine(text: string): Promise<void> {
    // Where their text could not be seen, they are not waited for either.
    await send(text, theirs?.version === memory.version ? undefined : theirs?.version);
  }
  return { theirs, save, takeMine };
}

/** Ends of what is being written, by the keyboard. */
function onEditKey(event: KeyboardEvent, save: () => void, cancel: () => void): void {
  if (event.isComposing) return;
  if (event.key === "Escape") cancel();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  else return;
  event.preventDefault();
}

/** Buttons of the field. */
function Ends({ canSave, busy, onCancel }: {
  canSave: boolean;
  busy: boolean;
  onCancel: () => void;
}) {
  return (
    <div class="row">
      <button class="button small primary" type="submit" disabled={!canSave}>
        {busy ? "Saving…" : "Save"}
      </button>
      <button type="button" class="button small" onClick={onCancel}>Cancel</button>
      <span class="quiet small-text keys">Ctrl+Enter saves, Escape cancels</span>
    </div>
  );
}

/** A memory's text as a field. */
export function EditText({ memory, onAccepted, onClose }: {
  memory: ShownMemory;
  /** The relayer has taken the new text. */
  onAccepted: (accepted: UpdateAccepted) => void;
  /** Nothing is to be changed; `true` where the memory is to be loaded again. */
  onClose: (isStale: boolean) => void;
}) {
  const action = useAction();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(memory.text ?? "");
  /** Somebody who edits does not see what the list shows meanwhile. */
  const edited = useRef(memory).current;
  const { theirs, save, takeMine } = useSave(edited, onAccepted);
  // Before it can be drawn: nobody is typing yet.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  const canSave = !action.busy && text.trim() !== "";
  function submit(): void {
    if (!canSave) return;
    if (text === edited.text) onClose(false);
    else action.run(() => theirs === undefined ? save(text) : takeMine(text));
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => onEditKey(event, submit, () => onClose(theirs !== undefined))}
    >
      <textarea
        ref={field}
        dir="auto"
        aria-label="Text of the memory"
        value={text}
        rows={Math.min(14, Math.max(3, Math.ceil(text.length / 60)))}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {theirs === undefined
        ? <Ends canSave={canSave} busy={action.busy} onCancel={() => onClose(false)} />
        : (
          <Conflict
            theirs={theirs}
            seen={edited.version ?? 0}
            onMine={submit}
            onTheirs={() => onClose(true)}
          />
        )}
      <Failure error={action.error} />
    </form>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { UpdateAccepted } from "../../../src/client/results.ts";
import { useAction } from "../parts/action.tsx";
import { focusOnceGone, neighbourOf } from "../parts/focus.ts";
import { Moment } from "../parts/moment.tsx";
import { Failure } from "../parts/notice.tsx";
import { useSession } from "../use_session.ts";
import { type Corrections, useCorrection } from "./edit/correction.ts";
import { EditText } from "./edit/edit_text.tsx";
import { History } from "./edit/history.tsx";
import { beginningOf, type ShownMemory, textOrReason } from "./shown_memory.ts";
import { isOver } from "./standing/groups.ts";
import { Standing, Times } from "./standing/standing_words.tsx";

/** Texts longer than this are folded. */
const LONG = 420;

/** How far a correction is. */
function CorrectionState({ corrections: { correction, retry } }: { corrections: Corrections }) {
  const action = useAction();
  return (
    <span class="row" role="status">
      {correction !== undefined && (
        <>
          <span class={`chip ${correction.failure === undefined ? "chip-warn" : "chip-bad"}`}>
            {correction.failure === undefined
              ? "Correction on its way"
              : `Correction not saved: ${correction.failure}`}
          </span>
          {correction.failure !== undefined && (
            <button
              type="button"
              class="button small"
              onClick={() => action.run(retry)}
            >
              Try again
            </button>
          )}
          <Failure error={action.error} />
        </>
      )}
    </span>
  );
}

/** Buttons of a card. */
function CardActions(
  { beginning: words, isOpen, onOpen, canEdit, onDelete, edit }: {
    /** Of the text, for those who do not see which card they are in. */
    beginning: string;
    /** Whether a long text is shown whole; absent where it is short. */
    isOpen: boolean | undefined;
    onOpen: () => void;
    canEdit: boolean;
    onDelete: (button: Element) => void;
    /** Opens the field. */
    edit: { readonly ref: RefObject<HTMLButtonElement | null>; readonly run: () => void };
  },
) {
  const beginning = <span class="unseen">{words}</span>;
  return (
    <span class="end row">
      {isOpen !== undefined && (
        <button
          type="button"
          class="button small bare"
          aria-expanded={isOpen}
          onClick={onOpen}
        >
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
      {canEdit && (
        <button ref={edit.ref} type="button" class="button small bare" onClick={edit.run}>
          Edit{beginning}
        </button>
      )}
      <button
        type="button"
        class="button small bare"
        data-delete
        onClick={(event) => onDelete(event.currentTarget)}
      >
        Delete{beginning}
      </button>
    </span>
  );
}

/** When a memory was changed, and what opens its history. */
function Changed({ memory, history, id, isOpen }: {
  memory: ShownMemory;
  history: { readonly ref: RefObject<HTMLButtonElement | null>; readonly run: () => void };
  /** Of the history. */
  id: string;
  isOpen: boolean;
}) {
  const { version = 1, updated_at: at } = memory;
  if (version === 1 || at === undefined) return null;
  return (
    <span class="row">
      <span>
        Changed <Moment time={at} />
      </span>
      <button
        ref={history.ref}
        type="button"
        class="button small bare"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={history.run}
      >
        History
      </button>
    </span>
  );
}

/** What a card shows: its text, a field with it, or what it said before as well. */
type Shown = "text" | "field" | "history";

/** What a card shows; whoever closes something goes on where they opened it. */
function useShown() {
  const [shown, setShown] = useState<Shown>("text");
  const edit = useRef<HTMLButtonElement>(null);
  const history = useRef<HTMLButtonElement>(null);
  const before = useRef<Shown>("text");
  useEffect(() => {
    if (shown === "text" && before.current === "field") edit.current?.focus();
    if (shown === "text" && before.current === "history") history.current?.focus();
    before.current = shown;
  }, [shown]);
  return {
    shown,
    show: setShown,
    edit: { ref: edit, run: () => setShown("field") },
    history: { ref: history, run: () => setShown(shown === "history" ? "text" : "history") },
  };
}

/** Deletes a memory after a while, and keeps the keyboard at its place. */
function useDelete(memory: ShownMemory) {
  const { deletions } = useSession();
  return (button: Element) => {
    const neighbour = neighbourOf(button);
    const { memory_id: memoryId, namespace, version } = memory;
    deletions.delete({ memoryId, namespace, version, text: beginningOf(memory) });
    focusOnceGone(neighbour);
  };
}

const isLong = (text: string): boolean => text.length > LONG || text.split("\n").length > 6;

/** Classes of a text: what is long is folded, what is over stands back. */
function textClass(isFolded: boolean, isPast: boolean): string {
  return `text${isFolded ? " long" : ""}${isPast ? " past" : ""}`;
}

/** A memory in a card: its text, its age, and ways to correct and to delete it. */
export function MemoryBody(
  { memory, at, isDated = false, children, onChanged }: {
    memory: ShownMemory;
    /** Whether it is said above since when it counts. */
    isDated?: boolean;
    /** When it is looked at, milliseconds since the epoch; now when absent. */
    at?: number | undefined;
    /** What else is known of it. */
    children?: ComponentChildren;
    /** Loads anew what a correction changes. */
    onChanged: () => Promise<void>;
  },
) {
  const [whole, setWhole] = useState(false);
  const { shown, show, edit, history } = useShown();
  const corrections = useCorrection(onChanged);
  const remove = useDelete(memory);
  const historyId = useId();
  const { memory_id: memoryId, version = 1 } = memory;
  const text = textOrReason(memory);
  const long = isLong(text);
  function accept(accepted: UpdateAccepted): void {
    corrections.accept(accepted);
    show("text");
  }
  async function close(isStale: boolean): Promise<void> {
    show("text");
    if (isStale) await onChanged();
  }
  return (
    <>
      {shown === "field"
        ? <EditText memory={memory} onAccepted={accept} onClose={close} />
        : <p class={textClass(long && !whole, isOver(memory, at))} dir="auto">{text}</p>}
      <div class="foot">
        <Times memory={memory} isDated={isDated} />
        <Changed memory={memory} history={history} id={historyId} isOpen={shown === "history"} />
        <Standing memory={memory} at={at} />
        {children}
        <CorrectionState corrections={corrections} />
        {shown !== "field" && (
          <CardActions
            beginning={beginningOf(memory)}
            isOpen={long ? whole : undefined}
            onOpen={() => setWhole(!whole)}
            canEdit={memory.text !== undefined && memory.source !== "manual"}
            onDelete={remove}
            edit={edit}
          />
        )}
      </div>
      {shown === "history" && (
        <History id={historyId} memoryId={memoryId} version={version} onAccepted={accept} />
      )}
    </>
  );
}

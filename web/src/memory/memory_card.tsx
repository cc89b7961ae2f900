/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Hit, Memory } from "../../../src/client/results.ts";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { Moment } from "../parts/moment.tsx";

/** Texts longer than this are folded. */
const LONG = 420;

/** What a card shows of a memory. */
export type ShownMemory =
  & Pick<Memory | Hit, "memory_id" | "text" | "created_at" | "occurred_at">
  & Partial<Pick<Memory, "text_error" | "expires_at" | "source">>;

function withoutText({ source, text_error: code }: ShownMemory): string {
  if (source === "manual") return "Encrypted by the app that saved it.";
  return `This memory cannot be opened right now${code === undefined ? "" : ` (${code})`}.`;
}

/** A memory: its text, its age, and a way to delete it. */
export function MemoryCard(
  { memory, children, onDelete }: {
    memory: ShownMemory;
    /** What else is known of it. */
    children?: ComponentChildren;
    onDelete: () => Promise<void>;
  },
) {
  const [open, setOpen] = useState(false);
  const [asking, setAsking] = useState(false);
  const text = memory.text ?? withoutText(memory);
  const long = text.length > LONG || text.split("\n").length > 6;
  return (
    <li class="memory">
      <p class={long && !open ? "text long" : "text"} dir="auto">{text}</p>
      <div class="foot">
        <Moment time={memory.created_at} />
        {memory.occurred_at !== undefined && (
          <span>
            happened <Moment time={memory.occurred_at} />
          </span>
        )}
        {memory.expires_at !== undefined && (
          <span>
            ends <Moment time={memory.expires_at} />
          </span>
        )}
        {children}
        <span class="end row">
          {long && (
            <button
              type="button"
              class="button small bare"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              {open ? "Show less" : "Show all"}
            </button>
          )}
          <button type="button" class="button small bare" onClick={() => setAsking(true)}>
            Delete<span class="unseen">{text.slice(0, 60)}</span>
          </button>
        </span>
      </div>
      {asking && (
        <ConfirmDialog
          title="Delete this memory?"
          action="Delete"
          onConfirm={onDelete}
          onClose={() => setAsking(false)}
        >
          <p class="quiet" dir="auto">{text.length > 160 ? `${text.slice(0, 160)}…` : text}</p>
          <p>No app finds it any more. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </li>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import { SvcError } from "../../../../src/errors.ts";
import { cardOf } from "../../parts/focus.ts";
import { explain } from "../../text/explain.ts";
import { useSession } from "../../use_session.ts";
import type { Deletion, Deletions } from "./deletions.ts";
import { saveReceipt } from "./receipt.ts";

/** Whether keys belong to what is being typed. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input, textarea, select"));

/** Takes a deletion back, and goes to the card that is there again. */
function undo(deletions: Deletions, id?: number): boolean {
  const memory = deletions.undo(id);
  if (memory === undefined) return false;
  // After the card was drawn.
  setTimeout(() => {
    const card = cardOf(memory.memoryId);
    (card?.querySelector<HTMLElement>("button[data-delete]") ?? document.getElementById("main"))
      ?.focus();
  });
  return true;
}

/** Control and Z outside of fields takes back the newest deletion. */
function useUndoKey(deletions: Deletions): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey &&
        event.key.toLowerCase() === "z";
      if (isUndo && !isTyping(event.target) && undo(deletions)) event.preventDefault();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [deletions]);
}

/** Draws anew each second, while something counts down. */
function useSeconds(counts: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!counts) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [counts]);
  return now;
}

function Waiting({ item, now, onUndo }: { item: Deletion; now: number; onUndo: () => void }) {
  const seconds = Math.max(1, Math.ceil((item.endsAt - now) / 1000));
  return (
    <>
      <span class="grow what">
        Deleted. <bdi class="quiet">{item.what}</bdi>
      </span>
      <button
        type="button"
        class="button small"
        aria-label={`Undo: ${item.what}`}
        aria-keyshortcuts="Control+Z"
        onClick={onUndo}
      >
        Undo ({Math.min(seconds, 10)} s)
      </button>
    </>
  );
}

function Ended({ item, deletions }: { item: Deletion; deletions: Deletions }) {
  const { memory, what, outcome, error, state } = item;
  const receipt = outcome?.receipt;
  // What somebody changed is looked at again first.
  const isOutdated = error instanceof SvcError && error.code === "version_conflict";
  const words = state === "failed"
    ? `Not deleted. ${explain(error)}`
    : `${memory === undefined ? `${what}.` : "Deleted for good."} ${outcome?.words ?? ""}`;
  return (
    <>
      <span class="grow what">
        {words} {memory !== undefined && <bdi class="quiet">{what}</bdi>}
      </span>
      <span class="row">
        {state === "failed" && !isOutdated && (
          <button
            type="button"
            class="button small"
            onClick={() => deletions.retry(item.id)}
          >
            Try again
          </button>
        )}
        {receipt !== undefined && (
          <button
            type="button"
            class="button small"
            onClick={() => saveReceipt(receipt)}
          >
            Receipt<span class="unseen">{what}</span>
          </button>
        )}
        <button
          type="button"
          class="button small bare"
          onClick={(event) => {
            const bar = event.currentTarget.closest(".deletions");
            deletions.close(item.id);
            setTimeout(() => {
              const next = bar?.isConnected && bar.querySelector("button");
              (next || document.getElementById("main"))?.focus({ preventScroll: true });
            });
          }}
        >
          Close<span class="unseen">{what}</span>
        </button>
      </span>
    </>
  );
}

/** What was deleted just now: how to take it back, and what became of it. */
export function DeletionBar() {
  const session = useSession();
  const { deletions } = session;
  const bar = useRef<HTMLElement>(null);
  const { items, said } = deletions;
  const now = useSeconds(!deletions.isHeld && items.some(({ state }) => state === "waiting"));
  useUndoKey(deletions);
  useEffect(() => {
    const leave = () => deletions.leave();
    addEventListener("pagehide", leave);
    return () => removeEventListener("pagehide", leave);
  }, [deletions]);
  // What is read is not taken away; it may also go away under the pointer, which tells nothing.
  const isHeld = () => bar.current?.matches(":hover, :focus-within") ?? false;
  useEffect(() => {
    if (deletions.isHeld && !isHeld()) deletions.release();
  });
  const over = items.filter(({ state }) => state === "over").length;
  return (
    <>
      <p class="unseen" aria-live="polite">{said}</p>
      {items.length > 0 && (
        <section
          ref={bar}
          class="deletions"
          aria-label="Deleted just now"
          onPointerEnter={() => deletions.hold()}
          onPointerLeave={() => !isHeld() && deletions.release()}
          onFocusIn={() => deletions.hold()}
          onFocusOut={() => setTimeout(() => !isHeld() && deletions.release())}
        >
          <ul>
            {items.map((item) => (
              <li key={item.id} class={`deletion ${item.state}`}>
                {item.state === "waiting"
                  ? <Waiting item={item} now={now} onUndo={() => undo(deletions, item.id)} />
                  : item.state === "sending"
                  ? <span class="grow what">Deleting… {item.what}</span>
                  : <Ended item={item} deletions={deletions} />}
              </li>
            ))}
          </ul>
          {over > 1 && (
            <button type="button" class="button small" onClick={() => deletions.close()}>
              Close all {over}
            </button>
          )}
        </section>
      )}
    </>
  );
}

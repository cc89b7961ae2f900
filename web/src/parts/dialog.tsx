/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { focusOnceGone, neighbourOf } from "./focus.ts";
import { Failure } from "./notice.tsx";

/** A question that must be answered before something happens that cannot be undone. */
export function ConfirmDialog(
  { title, children, action, onConfirm, onClose }: {
    title: string;
    children: ComponentChildren;
    /** Text of the button that does it. */
    action: string;
    onConfirm: () => Promise<void>;
    onClose: () => void;
  },
) {
  const ref = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element>(null);
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    opener.current = document.activeElement;
    ref.current?.showModal();
  }, []);
  async function confirm(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      const neighbour = neighbourOf(opener.current);
      await onConfirm();
      // What was confirmed may have taken the dialog off the page, which then tells no end.
      if (ref.current === null) onClose();
      else ref.current.close();
      // With the opener, the place is gone to which a browser gives back the focus.
      focusOnceGone(neighbour);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  }
  return (
    <dialog ref={ref} class="dialog" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      <div class="stack">{children}</div>
      <Failure error={error} />
      <div class="row end">
        <button
          type="button"
          class="button"
          onClick={() => ref.current?.close()}
        >
          Cancel
        </button>
        <button
          type="button"
          class="button danger"
          disabled={busy}
          onClick={confirm}
        >
          {busy ? "Working…" : action}
        </button>
      </div>
    </dialog>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** State of something a button starts. */
export interface Action {
  /** Whether it runs. */
  readonly busy: boolean;
  /** Why it failed last. */
  readonly error: unknown;
  /** Starts it, unless it runs. */
  readonly run: (work: () => Promise<void>) => void;
}

/** Runs one thing at a time and keeps its failure. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  function run(work: () => Promise<void>): void {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    work().catch(setError).finally(() => setBusy(false));
  }
  return { busy, error, run };
}

/** A button that waits for what it started. */
export function ActionButton(
  { action, onRun, kind = "primary", disabled = false, children }: {
    action: Action;
    onRun: () => Promise<void>;
    kind?: "primary" | "plain" | "danger";
    disabled?: boolean;
    children: ComponentChildren;
  },
) {
  return (
    <button
      type="button"
      class={`button ${kind}`}
      disabled={action.busy || disabled}
      aria-busy={action.busy}
      onClick={() => action.run(onRun)}
    >
      {action.busy ? "Working…" : children}
    </button>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { explain } from "../text/explain.ts";

/** A message in a box: information, success, a warning or an error. */
export function Notice(
  { kind = "info", children }: {
    kind?: "info" | "good" | "warn" | "bad";
    children: ComponentChildren;
  },
) {
  return (
    <div
      class={`notice notice-${kind}`}
      role={kind === "bad" ? "alert" : "status"}
    >
      {children}
    </div>
  );
}

/** An error in words, with a way to try again. */
export function Failure(
  { error, retry }: { error: unknown; retry?: () => void },
) {
  if (error === undefined) return null;
  return (
    <Notice kind="bad">
      <p>{explain(error)}</p>
      {retry && (
        <button type="button" class="button small" onClick={retry}>
          Try again
        </button>
      )}
    </Notice>
  );
}

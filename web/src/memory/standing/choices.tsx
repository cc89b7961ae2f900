/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useAction } from "../../parts/action.tsx";
import { Failure } from "../../parts/notice.tsx";
import type { Settlement } from "./surroundings.ts";

/** A way to settle something, and what its button says. */
export interface Choice {
  readonly words: ComponentChildren;
  readonly settlement: Settlement;
}

/** A button for each way to settle something; the focus stays while one is under way. */
export function Choices({ question, choices, settle }: {
  question?: string;
  choices: readonly Choice[];
  settle: (settlement: Settlement) => Promise<void>;
}) {
  const action = useAction();
  const id = useId();
  return (
    <>
      <div
        class="row"
        role="group"
        aria-labelledby={question === undefined ? undefined : id}
        aria-busy={action.busy}
      >
        {question !== undefined && <span id={id} class="label">{question}</span>}
        {choices.map(({ words, settlement }, at) => (
          <button
            key={at}
            type="button"
            class="button small"
            onClick={() => action.run(() => settle(settlement))}
          >
            {words}
          </button>
        ))}
        <span role="status" class="quiet small-text">{action.busy && "Saving…"}</span>
      </div>
      <Failure error={action.error} />
    </>
  );
}

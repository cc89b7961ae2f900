/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useRef } from "preact/hooks";
import { isPast, type ShownTime } from "./shown_time.ts";

/** Lets somebody choose whether what is over is shown, and of which day the memories are. */
export function TimeFields({ time, over, onChange }: {
  time: ShownTime;
  /** How many memories are over and not shown, where that is known. */
  over: number;
  onChange: (time: ShownTime) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <div class="row times">
      <label class="choice">
        <input
          type="checkbox"
          checked={time.withOver}
          onChange={(event) => onChange({ ...time, withOver: event.currentTarget.checked })}
        />
        <span>
          Show what is over
          {over > 0 && <span class="quiet">{` (${over.toLocaleString("en")})`}</span>}
        </span>
      </label>
      <label class="as-of">
        As of
        <input
          ref={field}
          type="date"
          value={time.day}
          onChange={(event) => onChange({ ...time, day: event.currentTarget.value })}
        />
      </label>
      {isPast(time) && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            onChange({ ...time, day: "" });
            field.current?.focus();
          }}
        >
          Back to now
        </button>
      )}
    </div>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { Day, Moment } from "../../parts/moment.tsx";
import { count } from "../../text/format.ts";
import type { ShownMemory } from "../shown_memory.ts";
import { isOver, startOf } from "./groups.ts";

/** Who said it, where that was not the user. */
const WRITERS: Readonly<Record<string, string>> = {
  agent: "noted by an AI app",
  import: "imported",
};

/** When a memory was saved, when it is true, and when it ends. */
export function Times({ memory, isDated }: {
  memory: ShownMemory;
  /** Whether it is said elsewhere since when and until when it is true. */
  isDated: boolean;
}) {
  const { created_at: created, expires_at: expires } = memory;
  return (
    <>
      {(!isDated || startOf(memory) !== created) && (
        <span>
          {isDated && "saved "}
          <Moment time={created} />
        </span>
      )}
      {!isDated && <Validity memory={memory} />}
      {expires !== undefined && (
        <span>
          ends <Moment time={expires} />
        </span>
      )}
    </>
  );
}

/** When what a memory says happened, began and ended. */
function Validity({ memory: { occurred_at, valid_from, valid_to } }: { memory: ShownMemory }) {
  return (
    <>
      {occurred_at !== undefined && (
        <span>
          happened <Moment time={occurred_at} />
        </span>
      )}
      {valid_from !== undefined && (
        <span>
          true since <Day time={valid_from} />
        </span>
      )}
      {valid_to !== undefined && (
        <span>
          true until <Day time={valid_to} />
        </span>
      )}
    </>
  );
}

/** The key that wrote it: its label, and its end. */
function Writer({ memory: { written_by: key, written_by_label: label } }: { memory: ShownMemory }) {
  if (key === undefined) return null;
  return (
    <span>
      by {label === undefined ? "a removed key" : <bdi>{label}</bdi>} <code>…{key.slice(-8)}</code>
    </span>
  );
}

/** Who said it and wrote it, whether it counts, and how often it was said. */
export function Standing({ memory, at }: {
  memory: ShownMemory;
  /** When it is looked at, milliseconds since the epoch; now when absent. */
  at: number | undefined;
}) {
  const { trust = "user", restated = 0, restates } = memory;
  const over = isOver(memory, at);
  return (
    <>
      <Writer memory={memory} />
      {WRITERS[trust] !== undefined && <span>{WRITERS[trust]}</span>}
      {trust === "web" && <span class="chip chip-warn">from the web</span>}
      {restated > 0 && <span>said {count(restated, "more time", "more times")}</span>}
      {over && <span class="chip">over</span>}
      {!over && restates !== undefined && <span class="chip">repeats another memory</span>}
    </>
  );
}

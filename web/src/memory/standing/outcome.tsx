/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { Failure, Notice } from "../../parts/notice.tsx";
import type { Settled } from "./surroundings.ts";

/** What became of what somebody settled. */
export function Outcome({ settled: { words, error } }: { settled: Settled }) {
  if (error !== undefined) return <Failure error={error} />;
  return (
    <Notice kind="good">
      <p>{words}</p>
    </Notice>
  );
}

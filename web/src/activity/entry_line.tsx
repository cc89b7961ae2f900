/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { actionWords, fromWords } from "../../../src/client/text/action_words.ts";
import type { Activity } from "../../../src/client/results.ts";
import { Moment } from "../parts/moment.tsx";
import { count } from "../text/format.ts";
import { namespaceName } from "../text/namespace_name.ts";

/** One kind of request by one key within a minute. */
export function EntryLine({ entry, labels }: {
  entry: Activity;
  /** Names of the keys that the account lists. */
  labels: ReadonlyMap<string, string>;
}) {
  const { key, action, namespace, via, from, outcome, count: times, last_at } = entry;
  const who = key === "owner" ? "Your wallet" : labels.get(key) ?? "A removed key";
  return (
    <li class="card activity">
      <div class="row between">
        <p class="grow">
          <strong>{who}</strong> {actionWords(action)}
          {namespace !== undefined && (
            <>
              {" in "}
              <bdi class="exact">{namespaceName(namespace)}</bdi>
            </>
          )}
        </p>
        {outcome !== "ok" && <span class="chip chip-warn">refused: {outcome}</span>}
      </div>
      <p class="quiet small-text">
        <Moment time={last_at} />
        {times > 1 && ` · ${count(times, "time", "times")}`}
        {` · from ${fromWords(from)}${via === "mcp" ? " through MCP" : ""}`}
        {key !== "owner" && (
          <>
            {" · key ends in "}
            <code>{key.slice(-8)}</code>
          </>
        )}
      </p>
    </li>
  );
}

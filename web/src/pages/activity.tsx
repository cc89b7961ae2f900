/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { SvcClient } from "../../../src/client/client.ts";
import type { Activity } from "../../../src/client/results.ts";
import { EntryLine } from "../activity/entry_line.tsx";
import { Failure } from "../parts/notice.tsx";
import { useLoad } from "../parts/use_load.ts";
import { useSession } from "../use_session.ts";

const PAGE = 50;
const LARGEST_PAGE = 500;
const REFRESH_MS = 15_000;

/**
 * The newest entries of a key; without one, of everybody but this page, which asks all the time.
 */
async function load(client: SvcClient, key: string, wanted: number) {
  const own = await client.publicKey();
  const { keys } = await client.accountKeys();
  const entries: Activity[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.activity({ limit: LARGEST_PAGE, cursor, key });
    entries.push(...page.entries.filter((entry) => key !== "" || entry.key !== own));
    cursor = page.next_cursor;
  } while (cursor !== undefined && entries.length < wanted);
  const hasMore = cursor !== undefined || entries.length > wanted;
  return { keys, own, hasMore, entries: entries.slice(0, wanted) };
}

/** What was read and written, and by which key. */
export function ActivityPage() {
  const session = useSession();
  const [key, setKey] = useState("");
  const [wanted, setWanted] = useState(PAGE);
  const loaded = useLoad(
    () => session.ask((client) => load(client, key, wanted)),
    `${key} ${wanted}`,
    REFRESH_MS,
  );
  const { keys = [], own, entries = [], hasMore = false } = loaded.value ?? {};
  const labels = new Map(keys.map((item) => [item.public_key, item.label]));
  return (
    <>
      <div class="title">
        <h1>Activity</h1>
        <p class="quiet">
          What your keys and your wallet did: never what was said or asked. Equal requests within a
          minute are one line, kept for 90 days.
        </p>
      </div>
      <label>
        Whose
        <select value={key} onChange={(event) => setKey(event.currentTarget.value)}>
          <option value="">Apps and your wallet</option>
          <option value="owner">Your wallet</option>
          {keys.map((item) => (
            <option key={item.public_key} value={item.public_key}>
              {item.public_key === own
                ? "This page"
                : `${item.label} (…${item.public_key.slice(-8)})`}
            </option>
          ))}
        </select>
      </label>
      <Failure error={loaded.error} retry={loaded.reload} />
      {loaded.value === undefined && loaded.error === undefined && <p class="quiet">Loading…</p>}
      {loaded.value !== undefined && entries.length === 0 && <p class="quiet">Nothing yet.</p>}
      {entries.length > 0 && (
        <ul class="list">
          {entries.map((entry) => (
            <EntryLine
              key={[entry.key, entry.action, entry.namespace, entry.first_at, entry.outcome].join()}
              entry={entry}
              labels={labels}
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button type="button" class="button" onClick={() => setWanted(wanted + 200)}>
          Show more
        </button>
      )}
    </>
  );
}

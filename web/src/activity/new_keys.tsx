/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { Link } from "../navigation.tsx";
import type { AccountKey } from "../owner/account.ts";
import { Moment } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { useLoad } from "../parts/use_load.ts";
import { useSession } from "../use_session.ts";
import { keepKnownKeys, knownKeys } from "./known_keys.ts";

/** Tells of keys that were added since this browser was here last, until that is read. */
export function NewKeysNotice() {
  const session = useSession();
  const { who } = session;
  const accountId = who?.accountId ?? "";
  const [fresh, setFresh] = useState<readonly AccountKey[]>([]);
  const keys = useLoad(
    () =>
      session.ask(async (client) => ({
        own: await client.publicKey(),
        list: (await client.accountKeys()).keys,
      })),
    `keys of ${accountId}`,
    60_000,
  );
  async function remember(list: readonly AccountKey[]): Promise<void> {
    await keepKnownKeys(accountId, list.map(({ public_key: key }) => key));
    setFresh([]);
  }
  useEffect(() => {
    const { value } = keys;
    if (value === undefined) return;
    void knownKeys(accountId).then(async (known) => {
      const isNew = ({ public_key: key }: AccountKey) =>
        known !== undefined && key !== value.own && !known.includes(key);
      const found = value.list.filter(isNew);
      if (found.length === 0) await remember(value.list);
      else setFresh(found);
    });
  }, [keys.value]);
  if (fresh.length === 0) return null;
  return (
    <Notice kind="warn">
      <p>
        {fresh.length === 1 ? "A key was added" : `${fresh.length} keys were added`}{" "}
        since this browser was here last:
      </p>
      <ul>
        {fresh.map(({ public_key, label, created_at }) => (
          <li key={public_key}>
            <bdi>{label}</bdi>, <Moment time={created_at} />, ends in{" "}
            <code>{public_key.slice(-8)}</code>
          </li>
        ))}
      </ul>
      <div class="row">
        <button
          type="button"
          class="button small"
          onClick={() => void remember(keys.value?.list ?? [])}
        >
          I know {fresh.length === 1 ? "it" : "them"}
        </button>
        <Link to="/apps">Look at the keys</Link>
      </div>
    </Notice>
  );
}

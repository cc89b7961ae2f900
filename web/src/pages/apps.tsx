/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { KeysWhileOff } from "../apps/keys_while_off.tsx";
import { HostSetup } from "../apps/host_setup.tsx";
import { isExpired, KeyCard } from "../apps/key_card.tsx";
import { type MadeKey, NewKeyForm } from "../apps/new_key.tsx";
import { OwnerKeys } from "../apps/owner_keys.tsx";
import type { AccountKey } from "../owner/account.ts";
import { Snippet } from "../parts/copy.tsx";
import { Failure } from "../parts/notice.tsx";
import { useLoad } from "../parts/use_load.ts";
import { useSession } from "../use_session.ts";

const REFRESH_MS = 10_000;

/** Used last first; never used ones by their age. */
function newestFirst(a: AccountKey, b: AccountKey): number {
  const time = (key: AccountKey) => Date.parse(key.last_used_at ?? key.created_at);
  return time(b) - time(a);
}

/** Who may read and write besides this page. */
export function AppsPage() {
  const session = useSession();
  return (
    <>
      <div class="title">
        <h1>Apps</h1>
        <p class="quiet">Each app has a key of its own. Remove it, and the app is out.</p>
      </div>
      {session.who?.active === false ? <KeysWhileOff /> : <Keys />}
    </>
  );
}

/** New keys, and the apps' configuration. */
function NewApp({ onAdded }: { onAdded: () => Promise<void> }) {
  const session = useSession();
  const [made, setMade] = useState<MadeKey>();
  const config = useLoad(() => session.ask((client) => client.config()), "config");
  return (
    <div class="columns">
      <section class="card" aria-labelledby="new-key">
        <h2 id="new-key">Let an app in</h2>
        <p class="quiet">
          Apps that can sign in need this address and nothing else; they open this page by
          themselves.
        </p>
        <Snippet text={`${session.config.relayerUrl}/api/mcp/connect`} name="Address for apps" />
        <p class="quiet">For others, make a key here.</p>
        <NewKeyForm
          onAdded={async (key) => {
            setMade(key);
            await onAdded();
          }}
        />
      </section>
      <section class="card" aria-labelledby="setup">
        <h2 id="setup">Set the app up</h2>
        <HostSetup
          mcpUrl={config.value?.mcpUrl ?? `${session.config.relayerUrl}/api/mcp`}
          accountId={session.who?.accountId ?? ""}
          made={made}
        />
      </section>
    </div>
  );
}

/** Keys of apps: what they may do, when they were used; new ones. */
function Keys() {
  const session = useSession();
  const keys = useLoad(
    () =>
      session.ask(async (client) => ({
        own: await client.publicKey(),
        list: (await client.accountKeys()).keys,
      })),
    "keys",
    REFRESH_MS,
  );
  const list = [...keys.value?.list ?? []].sort(newestFirst);
  const card = (key: AccountKey) => (
    <KeyCard
      key={key.public_key}
      accountKey={key}
      own={key.public_key === keys.value?.own}
      onRemove={async () => {
        await session.change((owner, wallet, id) => owner.removeKey(wallet, id, key.public_key));
        await keys.reload();
      }}
    />
  );
  const ended = list.filter(isExpired);
  return (
    <>
      <Failure error={keys.error} retry={keys.reload} />
      {keys.value === undefined &&
        (keys.error === undefined ? <p class="quiet">Loading…</p> : <OwnerKeys />)}
      {list.length > 0 && <ul class="list">{list.filter((key) => !isExpired(key)).map(card)}</ul>}
      {ended.length > 0 && (
        <details>
          <summary>Ended ({ended.length})</summary>
          <ul class="list">{ended.map(card)}</ul>
        </details>
      )}
      <NewApp onAdded={keys.reload} />
    </>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { AccountKey } from "../owner/account.ts";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { Moment } from "../parts/moment.tsx";

const RIGHTS: Readonly<Record<string, string>> = {
  "manage,read,write": "does everything",
  "read,write": "reads and writes",
  "read": "only reads",
  "write": "only writes",
};

/** Whether a key has ended. */
export function isExpired({ expires_at }: AccountKey): boolean {
  return expires_at !== undefined && Date.parse(expires_at) <= Date.now();
}

/** When a key was added, was used and ends. */
function KeyTimes({ accountKey: key, used }: { accountKey: AccountKey; used: boolean }) {
  return (
    <p class="quiet small-text grow">
      Added <Moment time={key.created_at} />
      {used && " · "}
      {used && (key.last_used_at === undefined ? "never used" : (
        <>
          used <Moment time={key.last_used_at} />
        </>
      ))}
      {key.expires_at !== undefined && (
        <>
          {" · "}
          {isExpired(key) ? "ended" : "ends"} <Moment time={key.expires_at} />
        </>
      )}
      {" · key ends in "}
      <code>{key.public_key.slice(-8)}</code>
    </p>
  );
}

/** What a key is bound to. */
function KeyNamespaces({ namespaces }: Pick<AccountKey, "namespaces">) {
  if (namespaces === undefined) return null;
  return (
    <p class="small-text">
      Only in {namespaces.map((name, i) => (
        <span key={name}>
          {i > 0 && ", "}
          <code>{name}</code>
        </span>
      ))}
    </p>
  );
}

/** A key of the account: whose it is, what it may do, when it was used. */
export function KeyCard(
  { accountKey: key, own, used = true, onRemove }: {
    accountKey: AccountKey;
    /** Whether it is the key of this page. */
    own: boolean;
    /** Whether its last use is known. */
    used?: boolean;
    onRemove: () => Promise<void>;
  },
) {
  const [asking, setAsking] = useState(false);
  return (
    <li class="card key">
      <div class="row between">
        <h3>{key.label}</h3>
        <span class="row">
          {own && <span class="chip chip-good">this page</span>}
          <span class="chip">{RIGHTS[[...key.permissions].sort().join()] ?? "does nothing"}</span>
          {isExpired(key) && <span class="chip chip-warn">ended</span>}
        </span>
      </div>
      <KeyNamespaces namespaces={key.namespaces} />
      <div class="row between">
        <KeyTimes accountKey={key} used={used} />
        <button type="button" class="button small danger" onClick={() => setAsking(true)}>
          Remove<span class="unseen">{key.label}</span>
        </button>
      </div>
      {asking && (
        <ConfirmDialog
          title={`Remove ${key.label}?`}
          action="Remove"
          onConfirm={onRemove}
          onClose={() => setAsking(false)}
        >
          <p>
            It can read and write nothing from then on, at the latest after a minute. What it saved
            stays.
          </p>
          {own && <p>This is the key of this page. The page makes itself a new one when needed.</p>}
        </ConfirmDialog>
      )}
    </li>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { makeAppToken } from "../../../src/client/tokens/app_token.ts";
import { addKnownKey } from "../activity/known_keys.ts";
import type { NewKey } from "../owner/account.ts";
import { keyProof } from "../owner/key_proof.ts";
import { useAction } from "../parts/action.tsx";
import {
  ExpiryField,
  expiryOf,
  NamespacesField,
  namespacesOf,
  PermissionField,
  usualPermissions,
} from "../parts/key_fields.tsx";
import { Failure } from "../parts/notice.tsx";
import type { Session } from "../session.ts";
import { useSession } from "../use_session.ts";
import { makeKey, seedOf } from "../wallet/ed25519.ts";

/** A key whose private half was made here, to be shown once. */
export interface MadeKey {
  readonly label: string;
  /** 64 hex characters. */
  readonly privateKey: string;
  /** Stands for it in one header; absent where the relayer does not know the key yet. */
  readonly token: string | undefined;
  /** For how long the token is, in days. */
  readonly days: number;
}

/** The longest that a token may be, in days. */
const MOST_DAYS = 366;

/** What the form holds. */
interface Wanted {
  readonly label: string;
  readonly permissions: NewKey["permissions"];
  /** Until it ends; 0: never. */
  readonly days: number;
  /** Namespaces that it is bound to, as they were typed. */
  readonly only: string;
}

/** Makes a key and adds it to the account. */
async function addKey(session: Session, wanted: Wanted): Promise<MadeKey> {
  const label = wanted.label.trim();
  const { privateKey, publicKey } = await makeKey(true);
  const { account_id: accountId } = await session.change(async (owner, wallet, accountId) => {
    const account = await owner.addKey(wallet, accountId, {
      public_key: publicKey,
      label,
      permissions: wanted.permissions,
      proof: await keyProof(privateKey, accountId),
      ...expiryOf(wanted.days),
      ...namespacesOf(wanted.only),
    });
    await addKnownKey(accountId, publicKey);
    return account;
  });
  const seed = (await seedOf(privateKey)).toHex();
  const days = wanted.days || MOST_DAYS;
  const of = { relayer: session.config.relayerUrl, accountId, privateKey: seed };
  // The key is added whatever comes of this.
  const made = await makeAppToken(of, { expires_in: days * 86_400 }).catch(() => undefined);
  return { label, privateKey: seed, token: made?.token, days };
}

/** Adds a new key to the account. An app that has made one signs in instead. */
export function NewKeyForm(
  { onAdded }: { onAdded: (made: MadeKey) => Promise<void> },
) {
  const session = useSession();
  const action = useAction();
  const [label, setLabel] = useState("");
  const [permissions, setPermissions] = useState<NewKey["permissions"]>(
    usualPermissions(session.config.accounts),
  );
  const [days, setDays] = useState(0);
  const [only, setOnly] = useState("");
  async function add(): Promise<void> {
    await onAdded(await addKey(session, { label, permissions, days, only }));
    setLabel("");
    setOnly("");
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        action.run(add);
      }}
    >
      <label>
        Name of the app
        <input
          required
          maxLength={64}
          value={label}
          placeholder="Cursor on my laptop"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
      </label>
      <PermissionField value={permissions} onChange={setPermissions} />
      <ExpiryField value={days} onChange={setDays} />
      <NamespacesField
        value={only}
        isPublic={session.config.accounts === "chain"}
        onChange={setOnly}
      />
      <div class="row">
        <button class="button primary" type="submit" disabled={action.busy}>
          {action.busy ? "Working…" : "Make a key"}
        </button>
      </div>
      <Failure error={action.error} />
    </form>
  );
}

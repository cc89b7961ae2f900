/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { NewKey } from "../owner/account.ts";
import { keyProof } from "../owner/key_proof.ts";
import { useAction } from "../parts/action.tsx";
import { ExpiryField, expiryOf, PermissionField } from "../parts/key_fields.tsx";
import { Failure } from "../parts/notice.tsx";
import type { Session } from "../session.ts";
import { useSession } from "../use_session.ts";
import { makeKey, seedOf } from "../wallet/ed25519.ts";

/** A key whose private half was made here, to be shown once. */
export interface MadeKey {
  readonly label: string;
  /** 64 hex characters. */
  readonly privateKey: string;
}

/** What the form holds. */
interface Wanted {
  readonly label: string;
  /** A public key that was made elsewhere, as typed; empty: one is made here. */
  readonly foreign: string;
  readonly permissions: NewKey["permissions"];
  /** Until it ends; 0: never. */
  readonly days: number;
}

/** Adds a key to the account, and answers it when it was made here. */
async function addKey(session: Session, wanted: Wanted): Promise<MadeKey | undefined> {
  const publicKey = wanted.foreign.trim().toLowerCase().replace(/^0x/, "");
  if (publicKey !== "" && !/^[0-9a-f]{64}$/.test(publicKey)) {
    throw new Error("A public key has 64 characters out of 0-9 and a-f");
  }
  const label = wanted.label.trim();
  const made = publicKey === "" ? await makeKey(true) : undefined;
  await session.change(async (owner, wallet, accountId) =>
    owner.addKey(wallet, accountId, {
      public_key: made?.publicKey ?? publicKey,
      label,
      permissions: wanted.permissions,
      ...(made === undefined ? {} : { proof: await keyProof(made.privateKey, accountId) }),
      ...expiryOf(wanted.days),
    })
  );
  return made && { label, privateKey: (await seedOf(made.privateKey)).toHex() };
}

/** Adds a key to the account: a new one, or one that was made elsewhere. */
export function NewKeyForm(
  { onAdded }: { onAdded: (made: MadeKey | undefined) => Promise<void> },
) {
  const session = useSession();
  const action = useAction();
  const [label, setLabel] = useState("");
  const [foreign, setForeign] = useState("");
  const [permissions, setPermissions] = useState<NewKey["permissions"]>(["read", "write"]);
  const [days, setDays] = useState(0);
  async function add(): Promise<void> {
    await onAdded(await addKey(session, { label, foreign, permissions, days }));
    setLabel("");
    setForeign("");
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
      {/* A contract takes a key only with its proof, which an app gives by signing in. */}
      {session.config.accounts === "local" && (
        <details>
          <summary>The app has made a key already</summary>
          <label>
            Its public key
            <input
              value={foreign}
              autocomplete="off"
              spellcheck={false}
              placeholder="64 characters"
              onInput={(event) => setForeign(event.currentTarget.value)}
            />
          </label>
        </details>
      )}
      <div class="row">
        <button class="button primary" type="submit" disabled={action.busy}>
          {action.busy ? "Working…" : foreign === "" ? "Make a key" : "Add this key"}
        </button>
      </div>
      <Failure error={action.error} />
    </form>
  );
}

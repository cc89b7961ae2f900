/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { Link } from "../navigation.tsx";
import type { AccountKey } from "../owner/account.ts";
import { ActionButton, useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useSession } from "../use_session.ts";
import { KeyCard } from "./key_card.tsx";

/**
 * The keys of an account that is switched off: no key may ask for them, but its owner may. Somebody
 * who switched it off because of a key removes that key before it works again.
 */
export function KeysWhileOff() {
  const session = useSession();
  const action = useAction();
  const [keys, setKeys] = useState<readonly AccountKey[]>();
  async function show(): Promise<void> {
    setKeys((await session.change((owner, wallet) => owner.open(wallet))).keys);
  }
  async function remove({ public_key }: AccountKey): Promise<void> {
    const account = await session.change((owner, wallet, id) =>
      owner.removeKey(wallet, id, public_key)
    );
    setKeys(account.keys);
  }
  return (
    <>
      <Notice kind="warn">
        <p>Your account is switched off: no key works.</p>
        <Link to="/account">Switch it on again</Link>
      </Notice>
      {keys === undefined
        ? <ActionButton action={action} kind="plain" onRun={show}>Show the keys</ActionButton>
        : (
          <ul class="list">
            {keys.map((key) => (
              <KeyCard
                key={key.public_key}
                accountKey={key}
                own={false}
                used={false}
                onRemove={() => remove(key)}
              />
            ))}
          </ul>
        )}
      <Failure error={action.error} />
    </>
  );
}

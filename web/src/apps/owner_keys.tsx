/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { AccountKey } from "../owner/account.ts";
import { ActionButton, useAction } from "../parts/action.tsx";
import { Failure } from "../parts/notice.tsx";
import { useSession } from "../use_session.ts";
import { KeyCard } from "./key_card.tsx";

/**
 * The keys of an account of which no key can ask for them, because it is switched off or has no
 * room for the page's own: its owner may, and removes one.
 */
export function OwnerKeys() {
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

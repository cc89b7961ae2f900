/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { useSession } from "../use_session.ts";
import { BrowserWallet } from "../wallet/browser_wallet.ts";
import { ActionButton, useAction } from "./action.tsx";
import { CopyButton } from "./copy.tsx";
import { Failure } from "./notice.tsx";

/** Shows the recovery key of a wallet that lies in this browser. */
export function RecoveryKey({ onSaved }: { onSaved?: () => void }) {
  const session = useSession();
  const action = useAction();
  const [key, setKey] = useState<string>();
  if (session.who?.kind !== "browser") return null;
  async function show(): Promise<void> {
    const wallet = await session.wallet();
    if (wallet instanceof BrowserWallet) setKey(await wallet.recoveryKey());
  }
  if (key === undefined) {
    return (
      <>
        <ActionButton action={action} kind="plain" onRun={show}>
          Show the recovery key
        </ActionButton>
        <Failure error={action.error} />
      </>
    );
  }
  return (
    <div class="stack">
      <p>
        Keep this text in a password manager or on paper. It opens your account in any browser, and
        whoever has it owns your memories.
      </p>
      <p class="secret" tabIndex={0} aria-label="Recovery key">{key}</p>
      <div class="row">
        <CopyButton text={key} />
        <ActionButton
          action={action}
          onRun={async () => {
            await session.markBackedUp();
            setKey(undefined);
            onSaved?.();
          }}
        >
          I saved it
        </ActionButton>
      </div>
      <Failure error={action.error} />
    </div>
  );
}

/** Asks to save the recovery key, until that is done. */
export function RecoveryReminder() {
  const session = useSession();
  const { who } = session;
  if (who === undefined || who.kind !== "browser" || who.backedUp) return null;
  return (
    <section class="card reminder" aria-label="Recovery key">
      <h2>Save your recovery key</h2>
      <p>
        Your key lies in this browser only. If you clear its data, the key is gone, and with it the
        way to your memories.
      </p>
      <RecoveryKey />
    </section>
  );
}

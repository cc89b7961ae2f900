/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { useSession } from "../use_session.ts";

/** Removes every key of the account in one action. */
export function RevokeEverything() {
  const session = useSession();
  const [asking, setAsking] = useState(false);
  return (
    <section class="card">
      <h2>Revoke everything</h2>
      <p>
        Removes every key at once, as when a computer is lost. Nothing is deleted; each app needs a
        new key afterwards.
      </p>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Revoke everything
      </button>
      {asking && (
        <ConfirmDialog
          title="Remove every key?"
          action="Revoke everything"
          onConfirm={async () => {
            await session.change((owner, wallet, id) => owner.removeAllKeys(wallet, id));
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            No app can read or write any more, at the latest after a minute. This page makes itself
            a new key.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}

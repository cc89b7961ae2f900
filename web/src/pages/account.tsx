/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { AnswerOf } from "../../../src/wire/route_types.ts";
import { RevokeEverything } from "../activity/revoke_everything.tsx";
import { ActionButton, useAction } from "../parts/action.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { RecoveryKey } from "../parts/recovery.tsx";
import { useLoad } from "../parts/use_load.ts";
import { bytesText, shortId } from "../text/format.ts";
import { requestsLeft } from "../text/rate_limit.ts";
import { useSession } from "../use_session.ts";

function Usage() {
  const session = useSession();
  const account = useLoad(() => session.ask((client) => client.account()), "account", 15_000);
  return (
    <section class="card" aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <Failure error={account.error} retry={account.reload} />
      {account.value !== undefined
        ? <Quota quota={account.value.quota} requests={requestsLeft(session.rateLimit)} />
        : account.error === undefined && <p class="quiet">Loading…</p>}
    </section>
  );
}

function Quota({ quota, requests }: {
  quota: AnswerOf<"GET /api/account">["quota"];
  /** Requests that are left; `undefined` when they are not limited. */
  requests: number | undefined;
}) {
  // The page reads with a key that may.
  const { used_bytes: used = 0, limit_bytes: limit } = quota;
  return (
    <>
      <p>
        {bytesText(used)} {limit === null ? "stored, without a limit" : `of ${bytesText(limit)}`}
      </p>
      {limit !== null && (
        <meter aria-label="Storage used" min={0} max={limit} value={Math.min(used, limit)} />
      )}
      <p class="quiet small-text">
        {requests === undefined
          ? "Requests are not limited."
          : `${requests.toLocaleString("en")} requests are left to this page for the moment.`}
      </p>
    </>
  );
}

function Deactivation() {
  const session = useSession();
  const action = useAction();
  const [asking, setAsking] = useState(false);
  const set = async (active: boolean) => {
    await session.change((owner, wallet, id) => owner.setActive(wallet, id, active));
  };
  if (session.who?.active === false) {
    return (
      <section class="card">
        <h2>The account is off</h2>
        <p>No key works: apps can neither read nor write. Your memories are kept.</p>
        <ActionButton action={action} onRun={() => set(true)}>Switch it on</ActionButton>
        <Failure error={action.error} />
      </section>
    );
  }
  return (
    <section class="card">
      <h2>Switch the account off</h2>
      <p>Every key stops working until you switch it on again. Nothing is deleted.</p>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Switch off
      </button>
      {asking && (
        <ConfirmDialog
          title="Switch the account off?"
          action="Switch off"
          onConfirm={() => set(false)}
          onClose={() => setAsking(false)}
        >
          <p>All apps lose access at once, this page too, at the latest after a minute.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function SignOut() {
  const session = useSession();
  const [asking, setAsking] = useState(false);
  const { who } = session;
  const lost = who?.kind === "browser" && !who.backedUp;
  return (
    <section class="card">
      <h2>Sign out</h2>
      <p>Removes your key and everything else of this page from this browser.</p>
      <button type="button" class="button" onClick={() => setAsking(true)}>Sign out</button>
      {asking && (
        <ConfirmDialog
          title="Sign out of this browser?"
          action={lost ? "Delete the key and sign out" : "Sign out"}
          onConfirm={() => session.signOut()}
          onClose={() => setAsking(false)}
        >
          {lost
            ? (
              <Notice kind="warn">
                <p>
                  You have not saved the recovery key. Without it nobody can sign in to this account
                  again, and its apps cannot be changed any more.
                </p>
              </Notice>
            )
            : <p>Sign in again with your wallet or your recovery key.</p>}
        </ConfirmDialog>
      )}
    </section>
  );
}

/** The wallet, usage and limits, and how to leave. */
export function AccountPage() {
  const session = useSession();
  const { who, config } = session;
  if (who === undefined) return null;
  return (
    <>
      <div class="title">
        <h1>Account</h1>
      </div>
      <div class="columns">
        <section class="card" aria-labelledby="wallet">
          <h2 id="wallet">Your key</h2>
          <dl class="facts">
            <div>
              <dt>Wallet</dt>
              <dd>{who.name}</dd>
            </div>
            <div>
              <dt>Address</dt>
              <dd class="row">
                <code title={who.address}>{shortId(who.address)}</code>
                <CopyButton text={who.address} label="Copy the address" />
              </dd>
            </div>
            <div>
              <dt>Account</dt>
              <dd class="row">
                <code title={who.accountId}>{shortId(who.accountId)}</code>
                <CopyButton text={who.accountId} label="Copy the account id" />
              </dd>
            </div>
            <div>
              <dt>Relayer</dt>
              <dd>{config.relayerUrl}, version {config.version}</dd>
            </div>
          </dl>
          {who.kind === "browser" && !who.backedUp && (
            <Notice kind="warn">
              <p>The recovery key is not saved yet.</p>
            </Notice>
          )}
          <RecoveryKey />
        </section>
        {who.active && <Usage />}
        <RevokeEverything />
        <Deactivation />
        <SignOut />
      </div>
    </>
  );
}

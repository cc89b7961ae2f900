/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { addKnownKey } from "../activity/known_keys.ts";
import { askForProof, ListenerError, tellApproved } from "../connect/listener.ts";
import { checkLoginLink, type LoginLink } from "../connect/login_link.ts";
import { useVisibleFor } from "../connect/visible_for.ts";
import { Link } from "../navigation.tsx";
import { useAction } from "../parts/action.tsx";
import {
  ExpiryField,
  expiryOf,
  PermissionField,
  type Permissions,
  usualPermissions,
} from "../parts/key_fields.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import type { Session } from "../session.ts";
import { useSession } from "../use_session.ts";

/** An approval counts once the question was in sight this long, in milliseconds. */
const READING_MS = 1000;

/** What is granted besides the link. */
interface Grant {
  readonly permissions: Permissions;
  readonly days: number;
}

const UNCONFIRMED = "The key was added, but the app did not confirm it. If the app is not " +
  "connected, remove its key under Apps and ask the app for a new link.";

const isThisComputer = (address: string) => new URL(address).hostname === "127.0.0.1";

const gone = (error: unknown) => error instanceof ListenerError;

/** Proof of the key, the key itself, and word to the app, in this order. */
async function approve(
  session: Session,
  link: LoginLink,
  grant: Grant,
): Promise<void> {
  const { who } = session;
  if (who === undefined) throw new Error("Nobody is signed in");
  const { packageId } = await session.ask((client) => client.config());
  const proof = await askForProof(link, who.accountId);
  const remove = () =>
    session.change((owner, wallet, id) => owner.removeKey(wallet, id, link.publicKey));
  await session.change(async (owner, wallet, accountId) => {
    const account = await owner.addKey(wallet, accountId, {
      public_key: link.publicKey,
      label: link.label,
      permissions: grant.permissions,
      proof,
      ...expiryOf(grant.days),
    });
    await addKnownKey(accountId, link.publicKey);
    return account;
  });
  try {
    await tellApproved(link, {
      accountId: who.accountId,
      walletAddress: who.address,
      packageId,
      label: link.label,
    });
  } catch (error) {
    if (!(error instanceof ListenerError)) throw error;
    // Without an answer the app may have taken the key: only a refusal is undone.
    if (error.status === 0) throw new Error(UNCONFIRMED, { cause: error });
    await remove();
    throw error;
  }
}

/** What somebody can compare with what the app shows. */
function Facts({ link }: { link: LoginLink }) {
  return (
    <dl class="facts">
      <div>
        <dt>Relayer</dt>
        <dd>
          {link.relayer}
          <span class="quiet hint">
            {isThisComputer(link.relayer)
              ? "The program on this computer that keeps your memories."
              : "The server that keeps your memories."}
          </span>
        </dd>
      </div>
      <div>
        <dt>Key ends in</dt>
        <dd>
          <code class="suffix">{link.publicKey.slice(-8)}</code>
          <span class="quiet hint">
            The app shows the same eight characters. If it shows others, do not approve.
          </span>
        </dd>
      </div>
    </dl>
  );
}

function Question({ link, onDone }: { link: LoginLink; onDone: () => void }) {
  const session = useSession();
  const action = useAction();
  const [permissions, setPermissions] = useState<Grant["permissions"]>(
    usualPermissions(session.config.accounts),
  );
  const [days, setDays] = useState(0);
  const { ref, visible } = useVisibleFor<HTMLButtonElement>(READING_MS);
  async function run(): Promise<void> {
    await approve(session, link, { permissions, days });
    onDone();
  }
  return (
    <section class="card first">
      <h1>Connect {link.label}?</h1>
      <p>
        It can then use your memories on this relayer, until you remove it.
      </p>
      <Facts link={link} />
      <PermissionField value={permissions} onChange={setPermissions} />
      <ExpiryField value={days} onChange={setDays} />
      <div class="row">
        <button
          ref={ref}
          type="button"
          class="button primary"
          disabled={!visible || action.busy}
          aria-busy={action.busy}
          onClick={(event) => event.isTrusted && action.run(run)}
        >
          {action.busy ? "Connecting…" : "Approve"}
        </button>
        <Link to="/memories" className="button plain">Do not connect</Link>
      </div>
      {gone(action.error)
        ? (
          <Notice kind="bad">
            <p>
              The app is not waiting for this answer. Links work once, for five minutes. Ask the app
              for a new one; nothing was changed.
            </p>
          </Notice>
        )
        : <Failure error={action.error} />}
    </section>
  );
}

/** Why the link of the address bar is of no use; `undefined` when it can be answered. */
export function linkProblem(session: Session): string | undefined {
  return checkLoginLink(location.search, session.config.relayerUrl).problem;
}

/** `/connect/mcp`: an app asks to be let in. */
export function ConnectPage() {
  const session = useSession();
  const [done, setDone] = useState(false);
  const [search] = useState(location.search);
  const { link, problem } = checkLoginLink(search, session.config.relayerUrl);
  return (
    <div class="narrow">
      {link === undefined
        ? (
          <section class="card">
            <h1>This link does not work</h1>
            <Notice kind="bad">
              <p>{problem}</p>
            </Notice>
          </section>
        )
        : session.who?.active === false
        ? (
          <Notice kind="warn">
            <p>Your account is switched off: no app can use it.</p>
            <Link to="/account">Switch it on, then open the app's link again</Link>
          </Notice>
        )
        : done
        ? (
          <section class="card first">
            <h1>{link.label} is connected</h1>
            <Notice kind="good">
              <p>You can close this page and go back to the app.</p>
            </Notice>
            <p>
              <Link to="/apps">See and remove connected apps</Link>
            </p>
          </section>
        )
        : <Question link={link} onDone={() => setDone(true)} />}
    </div>
  );
}

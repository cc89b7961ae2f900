/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { askForWords } from "../connect/listener.ts";
import { navigate } from "../navigation.tsx";
import { ActionButton, useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import type { Session } from "../session.ts";
import { useSession } from "../use_session.ts";
import { BrowserWallet } from "../wallet/browser_wallet.ts";

/** The port and the state of the terminal that opened the page, taken out of its address. */
function takeLink(): { readonly port: number; readonly state: string } | undefined {
  const query = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  const [port, state] = [Number(query.get("port")), query.get("state") ?? ""];
  const isLink = port > 1024 && port < 65_536 && /^[0-9a-f]{64}$/.test(state);
  return isLink ? { port, state } : undefined;
}

async function walletOf(link: ReturnType<typeof takeLink>): Promise<BrowserWallet> {
  if (link === undefined) throw new Error("This link is not complete. Run: svc open");
  const wallet = await BrowserWallet.restore(await askForWords(link.port, link.state));
  if (wallet === undefined) throw new Error("The terminal told no recovery words");
  return wallet;
}

async function enter(session: Session, wallet: BrowserWallet): Promise<void> {
  if (session.who?.address !== wallet.address) await session.signIn(wallet);
  navigate("/memories");
}

/** Signs in with the account of the terminal that opened the page. */
export function OpenPage() {
  const session = useSession();
  const action = useAction();
  const [failure, setFailure] = useState<unknown>();
  const [other, setOther] = useState<BrowserWallet>();
  useEffect(() => {
    walletOf(takeLink()).then(async (wallet) => {
      const { who } = session;
      if (who === undefined || who.address === wallet.address) await enter(session, wallet);
      else setOther(wallet);
    }).catch(setFailure);
  }, []);
  async function change(wallet: BrowserWallet): Promise<void> {
    await session.signOut();
    await enter(session, wallet);
  }
  if (other === undefined) {
    return (
      <div class="narrow">
        {failure === undefined ? <p class="quiet">Signing in…</p> : <Failure error={failure} />}
      </div>
    );
  }
  return (
    <section class="card first">
      <h1>Change the account?</h1>
      <p>This browser is signed in to another account than the terminal that opened this page.</p>
      {session.who?.kind === "browser" && !session.who.backedUp && (
        <Notice kind="warn">
          <p>Its recovery key is not saved yet. Save it first, under Account.</p>
        </Notice>
      )}
      <div class="row">
        <ActionButton action={action} onRun={() => change(other)}>
          Sign out there, and in here
        </ActionButton>
        <button type="button" class="button plain" onClick={() => navigate("/memories")}>
          Stay
        </button>
      </div>
      <Failure error={action.error} />
    </section>
  );
}

/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { ActionButton, useAction } from "../parts/action.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useSession } from "../use_session.ts";
import { BrowserWallet } from "../wallet/browser_wallet.ts";
import { onWalletPrograms, type WalletProgram, walletPrograms } from "../wallet/standard_wallet.ts";

function Programs() {
  const session = useSession();
  const action = useAction();
  const [programs, setPrograms] = useState<readonly WalletProgram[]>(
    walletPrograms,
  );
  useEffect(() => onWalletPrograms(() => setPrograms(walletPrograms())), []);
  async function signIn(program: WalletProgram): Promise<void> {
    const wallet = await program.connect();
    if (wallet === undefined) {
      throw new Error(`${program.name} shared no address`);
    }
    await session.signIn(wallet);
  }
  return (
    <section class="card">
      <h2>With a wallet</h2>
      {programs.length === 0
        ? (
          <p class="quiet">
            No Sui wallet was found in this browser. You do not need one.
          </p>
        )
        : (
          <>
            <p class="quiet">
              The wallet asks you to sign a short text. That costs nothing.
            </p>
            <div class="row">
              {programs.map((program) => (
                <ActionButton
                  key={program.name}
                  action={action}
                  kind="plain"
                  onRun={() => signIn(program)}
                >
                  <img src={program.icon} alt="" width="20" height="20" />
                  {program.name}
                </ActionButton>
              ))}
            </div>
          </>
        )}
      <Failure error={action.error} />
    </section>
  );
}

function Restore() {
  const session = useSession();
  const action = useAction();
  const [text, setText] = useState("");
  async function restore(): Promise<void> {
    const wallet = await BrowserWallet.restore(text);
    if (wallet === undefined) {
      throw new Error("This is not a recovery key: twelve words, or suiprivkey1…");
    }
    await session.signIn(wallet);
    await session.markBackedUp();
  }
  return (
    <section class="card">
      <h2>With a recovery key</h2>
      <p class="quiet">
        The words of an account that was made here, in another browser or in a terminal.
      </p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(restore);
        }}
      >
        <label>
          Recovery key
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <button
            class="button plain"
            type="submit"
            disabled={action.busy || text === ""}
          >
            Use this key
          </button>
        </div>
        <Failure error={action.error} />
      </form>
    </section>
  );
}

/** What somebody sees who is not signed in, on every page. */
export function SignIn() {
  const session = useSession();
  const action = useAction();
  const local = session.config.accounts === "local";
  const connecting = location.pathname.startsWith("/connect/");
  return (
    <div class="narrow">
      <div class="hero">
        <h1>
          {connecting ? "An app wants to connect" : "Your memory, under your key"}
        </h1>
        <p>
          {connecting
            ? "Sign in first. Then you see what the app asks for, and decide."
            : "svc keeps what your AI apps should remember about you. It is stored encrypted, and only apps you allow can read it."}
        </p>
      </div>
      {!local && (
        <Notice kind="info">
          <p>
            This relayer's accounts are on a chain: signing in for the first time, and every app
            that is let in or out, is a transaction.
          </p>
        </Notice>
      )}
      <section class="card first">
        <h2>Start in this browser</h2>
        <p>
          No password, no e-mail, nothing to install. A key is made here and stays here.
        </p>
        <ActionButton
          action={action}
          onRun={async () => await session.signIn(await BrowserWallet.make())}
        >
          Start
        </ActionButton>
        <Failure error={action.error} />
      </section>
      <Programs />
      <Restore />
    </div>
  );
}

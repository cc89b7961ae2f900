/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { render } from "preact";
import { App } from "./app.tsx";
import { loadConfig } from "./config.ts";
import { Notice } from "./parts/notice.tsx";
import { Session } from "./session.ts";
import { SessionContext } from "./use_session.ts";
import { hasEd25519 } from "./wallet/ed25519.ts";

const root = document.getElementById("app")!;

function stopWith(text: string): void {
  render(
    <main class="page narrow">
      <Notice kind="bad">
        <p>{text}</p>
      </Notice>
    </main>,
    root,
  );
}

async function start(): Promise<void> {
  // The headers forbid frames; a browser that ignores them gets nothing to click on.
  if (globalThis.top !== globalThis.self) {
    return stopWith("This page does not work inside another page.");
  }
  if (!await hasEd25519()) {
    return stopWith(
      "This browser is too old for this page, or the page was not opened securely.",
    );
  }
  const session = new Session(await loadConfig());
  await session.start();
  render(
    <SessionContext.Provider value={session}>
      <App />
    </SessionContext.Provider>,
    root,
  );
}

start().catch(() => stopWith("This page cannot start: reload it, or restart the relayer."));

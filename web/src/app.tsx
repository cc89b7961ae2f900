/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link, usePath } from "./navigation.tsx";
import { AccountPage } from "./pages/account.tsx";
import { NewKeysNotice } from "./activity/new_keys.tsx";
import { ActivityPage } from "./pages/activity.tsx";
import { AppsPage } from "./pages/apps.tsx";
import { DeletionBar } from "./memory/delete/deletion_bar.tsx";
import { questionIn } from "./connect/asker.ts";
import { ConnectPage, linkProblem } from "./pages/connect.tsx";
import { ConsentPage } from "./pages/consent.tsx";
import { MemoriesPage } from "./pages/memories.tsx";
import { MemoryPage } from "./pages/memory.tsx";
import { OpenPage } from "./pages/open.tsx";
import { SignIn } from "./pages/sign_in.tsx";
import { Pause } from "./parts/pause.tsx";
import { RecoveryReminder } from "./parts/recovery.tsx";
import { useSession } from "./use_session.ts";

const PAGES: Readonly<Record<string, { title: string; page: ComponentType }>> = {
  "/": { title: "Memories", page: MemoriesPage },
  "/memories": { title: "Memories", page: MemoriesPage },
  "/memory": { title: "A memory", page: MemoryPage },
  "/apps": { title: "Apps", page: AppsPage },
  "/activity": { title: "Activity", page: ActivityPage },
  "/account": { title: "Account", page: AccountPage },
  "/open": { title: "Sign in", page: OpenPage },
  "/connect/mcp": { title: "Connect an app", page: ConnectPage },
  "/connect/app": { title: "Connect an app", page: ConsentPage },
};

function Header({ path, signedIn }: { path: string; signedIn: boolean }) {
  const entries = [
    ["/memories", "Memories"],
    ["/apps", "Apps"],
    ["/activity", "Activity"],
    ["/account", "Account"],
  ] as const;
  return (
    <header class="top">
      <a class="skip" href="#main">Skip to the content</a>
      <Link to="/" className="brand">
        <img src="/icon.svg" alt="" width="28" height="28" />
        <span>svc</span>
      </Link>
      {signedIn && (
        <nav aria-label="Pages">
          {entries.map(([to, name]) => (
            <Link
              key={to}
              to={to}
              current={to === path || (path === "/" && to === "/memories")}
            >
              {name}
            </Link>
          ))}
        </nav>
      )}
    </header>
  );
}

function Frame({ path, signedIn, children }: {
  path: string;
  signedIn: boolean;
  children: ComponentChildren;
}) {
  return (
    <>
      <Header path={path} signedIn={signedIn} />
      <main id="main" class="page" tabIndex={-1}>{children}</main>
    </>
  );
}

/** The whole page. */
export function App() {
  const session = useSession();
  const path = usePath();
  const { who } = session;
  const { title, page: Page } = PAGES[path] ?? PAGES["/"]!;
  const shown = who === undefined ? "Sign in" : title;
  // Nobody makes a key for the sake of a link that leads nowhere.
  const useless = path === "/connect/mcp" && linkProblem(session) !== undefined ||
    path === "/connect/app" && questionIn(location.hash) === undefined;
  const connects = path.startsWith("/connect/");
  const signsIn = path === "/open";
  const first = useRef(true);
  useEffect(() => {
    // A screen reader goes on at the new page's beginning.
    if (!first.current) document.getElementById("main")?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  useEffect(() => {
    document.title = `${shown} · svc`;
  }, [shown]);
  return (
    <Frame path={path} signedIn={who !== undefined}>
      <Pause until={session.pausedUntil} />
      {who === undefined && !useless && !signsIn ? <SignIn /> : (
        <>
          {!connects && path !== "/account" && !signsIn && <RecoveryReminder />}
          {!connects && !signsIn && who?.active === true && <NewKeysNotice />}
          <Page />
          {who !== undefined && <DeletionBar />}
        </>
      )}
    </Frame>
  );
}

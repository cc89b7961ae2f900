/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { SvcError } from "../../../src/errors.ts";
import { askerOf, isWayBack, type Question, questionIn } from "../connect/asker.ts";
import { keepOut, letIn, readQuestion } from "../connect/let_in.ts";
import { useVisibleFor } from "../connect/visible_for.ts";
import { Link } from "../navigation.tsx";
import { useAction } from "../parts/action.tsx";
import {
  ExpiryField,
  expiryOf,
  NamespacesField,
  namespacesOf,
  PermissionField,
  usualWithin,
} from "../parts/key_fields.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useLoad } from "../parts/use_load.ts";
import { useSession } from "../use_session.ts";

/** An approval counts once the question was in sight this long, in milliseconds. */
const READING_MS = 1000;

/** The host that vouches for an app, and what that is worth. */
function Vouching({ question }: { question: Question }) {
  const { client_host: host, redirect_uri: to } = question;
  if (host === undefined) return null;
  return (
    <div>
      <dt>Described by</dt>
      <dd>
        {host}
        <span class="quiet hint">
          {askerOf(to).kind === "host"
            ? "This host says that the app may have its answer sent there."
            : "Any program on this computer can say that it is this app."}
        </span>
      </dd>
    </div>
  );
}

/** What is known of who asks; an app's name is what it says of itself. */
function Facts({ question }: { question: Question }) {
  return (
    <dl class="facts">
      <div>
        <dt>It calls itself</dt>
        <dd>
          {question.client_name ?? "nothing"}
          <span class="quiet hint">
            Anybody can choose any name. What counts is who gets the answer, above.
          </span>
        </dd>
      </div>
      <Vouching question={question} />
      <div>
        <dt>The answer goes to</dt>
        <dd>
          <code>{question.redirect_uri}</code>
        </dd>
      </div>
    </dl>
  );
}

function Asking({ question }: { question: Question }) {
  const { place, kind, isOdd } = askerOf(question.redirect_uri);
  return (
    <>
      <h1>Let this app use your memories?</h1>
      <p class="asker">{place}</p>
      {isOdd && (
        <Notice kind="warn">
          <p>
            This name has letters that may look like others: <code>xn--</code>{" "}
            stands for them. Approve only if you know it.
          </p>
        </Notice>
      )}
      {kind === "this computer" && (
        <p class="quiet">Approve only if you have just started to connect it yourself.</p>
      )}
      <Facts question={question} />
    </>
  );
}

function Decision({ request, question, onDone }: {
  request: string;
  question: Question;
  onDone: (approved: boolean) => void;
}) {
  const session = useSession();
  const { accounts } = session.config;
  const action = useAction();
  const [permissions, setPermissions] = useState(usualWithin(question.scope));
  const [days, setDays] = useState(0);
  const [only, setOnly] = useState("");
  const { ref, visible } = useVisibleFor<HTMLButtonElement>(READING_MS);
  function goBack(address: string, approved: boolean): void {
    if (!isWayBack(address, question)) throw new Error("The relayer named another address");
    onDone(approved);
    location.assign(address);
  }
  async function approve(): Promise<void> {
    const granted = { permissions, ...expiryOf(days), ...namespacesOf(only) };
    goBack(await letIn(session, { request, question, granted }), true);
  }
  return (
    <section class="card first">
      <Asking question={question} />
      <PermissionField value={permissions} onChange={setPermissions} among={question.scope} />
      <NamespacesField value={only} isPublic={accounts === "chain"} onChange={setOnly} />
      <ExpiryField value={days} onChange={setDays} />
      <div class="row">
        <button
          ref={ref}
          type="button"
          class="button primary"
          disabled={!visible || action.busy}
          aria-busy={action.busy}
          onClick={(event) => event.isTrusted && action.run(approve)}
        >
          {action.busy ? "Connecting…" : "Approve"}
        </button>
        <button
          type="button"
          class="button plain"
          disabled={action.busy}
          onClick={() => action.run(async () => goBack(await keepOut(session, request), false))}
        >
          Do not connect
        </button>
      </div>
      <Failure error={action.error} />
    </section>
  );
}

function Over({ error }: { error: unknown }) {
  const isOver = error === undefined ||
    error instanceof SvcError && error.code === "invalid_parameter";
  if (!isOver) return <Failure error={error} />;
  return (
    <section class="card">
      <h1>This link does not work</h1>
      <Notice kind="bad">
        <p>
          A question of an app can be answered for ten minutes. Go back to the app and try again.
        </p>
      </Notice>
    </section>
  );
}

function Done({ approved }: { approved: boolean }) {
  return (
    <section class="card first">
      <h1>{approved ? "The app is connected" : "The app is not connected"}</h1>
      <Notice kind={approved ? "good" : "info"}>
        <p>You can close this page and go back to the app.</p>
      </Notice>
      <p>
        <Link to="/apps">See and remove connected apps</Link>
      </p>
    </section>
  );
}

function Content({ request }: { request: string }) {
  const session = useSession();
  const question = useLoad(() => readQuestion(session, request), request);
  const [done, setDone] = useState<boolean>();
  if (session.who?.active === false) {
    return (
      <Notice kind="warn">
        <p>Your account is switched off: no app can use it.</p>
        <Link to="/account">Switch it on, then go back to the app and try again</Link>
      </Notice>
    );
  }
  if (done !== undefined) return <Done approved={done} />;
  if (question.error !== undefined) return <Over error={question.error} />;
  if (question.value === undefined) return <p class="quiet">Loading…</p>;
  return <Decision request={request} question={question.value} onDone={setDone} />;
}

/** `/connect/app`: an app that knows nothing but the relayer's address asks to be let in. */
export function ConsentPage() {
  const [request] = useState(() => questionIn(location.hash));
  return (
    <div class="narrow">
      {request === undefined ? <Over error={undefined} /> : <Content request={request} />}
    </div>
  );
}

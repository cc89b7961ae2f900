/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import { randomUuid } from "../../../src/client/transport.ts";
import { useAction } from "../parts/action.tsx";
import { Failure } from "../parts/notice.tsx";
import { useSession } from "../use_session.ts";
import { isDeleted, JobChip, jobStage, type ShownJob } from "./job_progress.tsx";

/** How often unfinished jobs are looked at, and how long a finished one is shown, milliseconds. */
const POLL_MS = 700;
const SHOWN_MS = 1500;

/** A text on its way to being a memory. */
interface Waiting {
  readonly id: string;
  readonly text: string;
  readonly job: ShownJob;
  /** Whether a memory says the same already. */
  readonly isThere: boolean;
}

const isOver = ({ job }: Waiting) => ["done", "failed", "not_found"].includes(job.status);

function WaitingRow({ item, onRetry }: { item: Waiting; onRetry: () => Promise<void> }) {
  const action = useAction();
  return (
    <li class="memory">
      <p class="text long" dir="auto">{item.text}</p>
      <progress aria-label="Saving" max={1} value={jobStage(item.job).part} />
      <div class="foot">
        {item.isThere
          ? <span class="chip chip-good">There already</span>
          : <JobChip job={item.job} />}
        {item.job.status === "failed" && (
          <button
            type="button"
            class="button small"
            onClick={() => action.run(onRetry)}
          >
            Try again
          </button>
        )}
        {item.job.error !== undefined && <span>{item.job.error}</span>}
      </div>
      <Failure error={action.error} />
    </li>
  );
}

/** Texts on their way, looked at until they are over and were shown for a while. */
function useWaiting(
  onSaved: () => void,
): [readonly Waiting[], (change: (before: readonly Waiting[]) => readonly Waiting[]) => void] {
  const session = useSession();
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  const saved = useRef(onSaved);
  saved.current = onSaved;
  const ids = waiting.filter((item) => !isOver(item)).map(({ id }) => id).join();
  useEffect(() => {
    if (ids === "") return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function poll(): Promise<void> {
      try {
        const { results } = await session.ask((client) => client.jobs(ids.split(",").slice(0, 20)));
        if (over) return;
        setWaiting((before) =>
          before.map((item) => ({
            ...item,
            job: results.find(({ job_id }) => job_id === item.id) ?? item.job,
          })).filter(({ job }) => !isDeleted(job))
        );
        if (results.some((job: ShownJob) => job.recallable)) saved.current();
      } catch {
        // The next poll may succeed; a relayer that is down is reported by the list.
      }
      if (!over) timer = setTimeout(poll, POLL_MS);
    }
    timer = setTimeout(poll, POLL_MS / 2);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [ids, session]);

  const done = waiting.filter(({ job }) => job.status === "done").map(({ id }) => id).join();
  useEffect(() => {
    if (done === "") return;
    const timer = setTimeout(
      () => setWaiting((before) => before.filter(({ id }) => !done.includes(id))),
      SHOWN_MS,
    );
    return () => clearTimeout(timer);
  }, [done]);
  return [waiting, setWaiting];
}

/** A field for something to be remembered. */
function RememberForm({ namespace, onAccepted }: {
  namespace: string;
  /** The relayer has taken a text. */
  onAccepted: (accepted: Waiting) => void;
}) {
  const session = useSession();
  const action = useAction();
  const [text, setText] = useState("");
  /** The relayer may have taken this text though nobody heard of it: it is not taken twice. */
  const unanswered = useRef<{ readonly text: string; readonly idempotencyKey: string }>(undefined);

  async function remember(): Promise<void> {
    if (unanswered.current?.text !== text) {
      unanswered.current = { text, idempotencyKey: randomUuid() };
    }
    const control = unanswered.current;
    const job = await session.ask((client) => client.remember(text, { namespace }, control));
    unanswered.current = undefined;
    onAccepted({ id: job.job_id, text, job, isThere: job.deduplicated === true });
    // What was typed meanwhile is the next one.
    setText((now) => now === text ? "" : now);
  }

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        action.run(remember);
      }}
    >
      <label>
        Remember something
        <textarea
          dir="auto"
          value={text}
          rows={3}
          placeholder="I am allergic to peanuts"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button
          class="button primary"
          type="submit"
          disabled={action.busy || text.trim() === ""}
        >
          {action.busy ? "Saving…" : "Remember"}
        </button>
      </div>
      <Failure error={action.error} />
    </form>
  );
}

/** A field for something to be remembered, and what becomes of it. */
export function Compose({ namespace, onSaved, onWaiting }: {
  namespace: string;
  /** A memory can be recalled, or is saved. */
  onSaved: () => void;
  /** Ids of the memories shown here. */
  onWaiting: (ids: ReadonlySet<string>) => void;
}) {
  const session = useSession();
  const [waiting, setWaiting] = useWaiting(onSaved);
  useEffect(() => onWaiting(new Set(waiting.map(({ id }) => id))), [waiting, onWaiting]);

  async function retry({ id }: Waiting): Promise<void> {
    const job = await session.ask((client) => client.retryJob(id));
    setWaiting((before) => before.map((item) => item.id === id ? { ...item, job } : item));
  }

  return (
    <>
      <RememberForm
        namespace={namespace}
        onAccepted={(accepted) => setWaiting((before) => [accepted, ...before])}
      />
      <div aria-live="polite">
        {waiting.length > 0 && (
          <ul class="list">
            {waiting.map((item) => (
              <WaitingRow
                key={item.id}
                item={item}
                onRetry={() => retry(item)}
              />
            ))}
          </ul>
        )}
      </div>
    </>
  );
}

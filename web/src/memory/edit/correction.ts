import { useEffect, useRef, useState } from "preact/hooks";
import type { UpdateAccepted } from "../../../../src/client/results.ts";
import { useSession } from "../../use_session.ts";

/** How often a correction is looked at, in milliseconds. */
const POLL_MS = 700;

/** A correction on its way. */
export interface Correction {
  readonly jobId: string;
  /** Why it was not saved. */
  readonly failure?: string;
}

/** What a card knows of its corrections. */
export interface Corrections {
  /** The one that is on its way or failed. */
  readonly correction: Correction | undefined;
  /** Takes up one that the relayer accepted. */
  readonly accept: (accepted: UpdateAccepted) => void;
  /** Tries again the one that failed. */
  readonly retry: () => Promise<void>;
}

/**
 * Follows a correction until the memory says what it says.
 *
 * @param onArrived Loads the memory anew.
 */
export function useCorrection(onArrived: () => Promise<void>): Corrections {
  const session = useSession();
  const [correction, setCorrection] = useState<Correction>();
  const arrived = useRef(onArrived);
  arrived.current = onArrived;
  const jobId = correction?.failure === undefined ? correction?.jobId : undefined;
  useEffect(() => {
    if (jobId === undefined) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function look(id: string): Promise<void> {
      try {
        const job = await session.ask((client) => client.job(id));
        if (over) return;
        if (job.status === "failed") {
          return setCorrection({ jobId: id, failure: job.error ?? "It failed" });
        }
        if (job.recallable || job.status === "done") {
          await arrived.current();
          if (!over) setCorrection(undefined);
          return;
        }
      } catch {
        // The next look may succeed; a relayer that is down is reported by the list.
      }
      if (!over) timer = setTimeout(look, POLL_MS, id);
    }
    timer = setTimeout(look, POLL_MS / 4, jobId);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [jobId, session]);
  return {
    correction,
    accept: ({ job_id }) => setCorrection({ jobId: job_id }),
    retry: async () => {
      if (correction === undefined) return;
      await session.ask((client) => client.retryJob(correction.jobId));
      setCorrection({ jobId: correction.jobId });
    },
  };
}

import type { AnswerOf } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { RESTORE_LIMIT_DEFAULT, RESTORE_LIMIT_MAX } from "../../src/wire/limits.ts";
import { EXIT, type ExitCode } from "../io.ts";
import { counted } from "../output.ts";
import { clientOf, print, type Session } from "../session.ts";
import { emptinessOf, namespaceOf } from "./namespaces.ts";
import { patiently } from "./patience.ts";
import { Progress } from "./progress.ts";

/** Longest wait for one part, in milliseconds: every memory of it is fetched and embedded. */
const PART_MS = 600_000;

type Part = AnswerOf<"POST /api/restore">;

/** What all parts did together; the last one says what is left. */
interface Restored {
  readonly restored: number;
  readonly last: Part;
}

/**
 * Restores part by part until nothing is left, or the limit is reached. What cannot be read is met
 * again by every part and uses it up: then the part grows, and at last it is given up.
 */
async function restoreAll(session: Session, namespace: string): Promise<Restored> {
  const { line: { limit = Infinity }, io } = session;
  const client = clientOf(session, PART_MS);
  const progress = new Progress(io);
  let restored = 0;
  let size = RESTORE_LIMIT_DEFAULT;
  try {
    for (;;) {
      const most = Math.min(size, limit - restored);
      const last = await patiently(
        session,
        progress,
        () => client.restore(namespace, most),
      );
      restored += last.restored;
      const isDone = last.remaining === 0 || restored >= limit;
      if (isDone || last.restored === 0 && most >= Math.min(RESTORE_LIMIT_MAX, limit - restored)) {
        return { restored, last };
      }
      if (last.restored === 0) size = RESTORE_LIMIT_MAX;
      progress.show(
        `${counted(restored, "memory", "memories")} restored, ` +
          `${last.remaining.toLocaleString("en")} to go`,
      );
    }
  } finally {
    progress.clear();
  }
}

/** What was done and what is left, in sentences. */
function words(name: string, { restored, last }: Restored, isGivenUp: boolean): string {
  const { skipped, failed, remaining } = last;
  const looked = skipped > 0 ? `: ${counted(skipped, "blob")} looked at` : "";
  return [
    restored > 0
      ? `Restored ${counted(restored, "memory", "memories")} of ${name}.`
      : `Nothing of ${name} could be restored${looked}.`,
    ...(failed > 0 ? [`${counted(failed, "blob")} could not be read: try again later.`] : []),
    ...(remaining > 0 && !isGivenUp ? [`${counted(remaining, "blob")} left (--limit).`] : []),
  ].join(" ");
}

/** Puts memories that are in the blob store alone back into the index. */
export async function restore(session: Session): Promise<ExitCode> {
  const { line } = session;
  const namespace = namespaceOf(session);
  const done = await restoreAll(session, namespace);
  const { restored, last } = done;
  const { skipped, failed, remaining, total } = last;
  const isGivenUp = remaining > 0 && restored < (line.limit ?? Infinity);
  const name = `"${onOneLine(namespace)}"`;
  const isWell = restored === 0 && failed === 0 && remaining === 0 && total > 0;
  const empty = total === 0 && !line.json ? await emptinessOf(session, namespace) : undefined;
  const text = empty ??
    (isWell
      ? `Nothing of ${name} is missing: ${counted(skipped, "blob")} looked at.`
      : words(name, done, isGivenUp));
  print(session, { namespace, restored, skipped, failed, remaining }, `${text}\n`);
  return failed > 0 || isGivenUp ? EXIT.error : EXIT.success;
}

import { pause } from "../../deadline.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { Logger } from "../../log.ts";
import { backupsIn, timeOf } from "../backup/files.ts";
import { type Settings, setVariables } from "../settings/mod.ts";
import { programArgs, WHOLE_PROGRAM } from "./child_spec.ts";

const HOUR_MS = 3_600_000;
/** A timer cannot wait for longer than 24 days: what is due is looked at every hour at least. */
const LONGEST_PAUSE_MS = HOUR_MS;
/** The relayer starts first, milliseconds. */
const START_MS = 60_000;

/** How a backup is made: answers whether it was, and what it said. */
export type RunBackup = () => Promise<{ readonly ok: boolean; readonly said: string }>;

/**
 * Makes backups as often as the settings say, until aborted. The first is due when the newest one in
 * the folder is old enough, so that a restart makes none too early.
 */
export async function makeBackups(
  settings: Pick<Settings, "backupHours" | "backupDir">,
  run: RunBackup,
  logger: Logger,
  { signal, wait = pause }: { readonly signal: AbortSignal; readonly wait?: typeof pause },
): Promise<void> {
  const every = settings.backupHours * HOUR_MS;
  if (every === 0) return;
  let failed = false;
  await wait(START_MS, signal);
  while (!signal.aborted) {
    const newest = (await backupsIn(settings.backupDir)).at(-1);
    const age = newest === undefined ? every : Date.now() - timeOf(newest);
    const left = failed ? LONGEST_PAUSE_MS : every - age;
    if (left > 0) {
      await wait(Math.min(left, LONGEST_PAUSE_MS), signal);
      failed = false;
      continue;
    }
    const { ok, said } = await run();
    failed = !ok;
    if (ok) logger.info("backup written", { folder: settings.backupDir });
    else logger.error("no backup could be written", { reason: said });
  }
}

/** Makes backups beside the relayer until it is disposed of, and the one under way is written. */
export function startBackups(settings: Settings, env: Env, logger: Logger): AsyncDisposable {
  const ended = new AbortController();
  const run = backupProcess(settings.backupKeep, env);
  const over = makeBackups(settings, run, logger, { signal: ended.signal });
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await over;
    },
  };
}

/** Makes a backup in a process of its own, which packs and encrypts beside the relayer. */
function backupProcess(keep: number, env: Env): RunBackup {
  return async () => {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...programArgs(WHOLE_PROGRAM), "backup", `--keep=${keep}`, "--json"],
      env: setVariables(env),
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    return { ok: success, said: reasonIn(new TextDecoder().decode(stderr)) };
  };
}

/** What the command says of its failure: the JSON of the last line. */
function reasonIn(text: string): string {
  const last = text.trim().split("\n").at(-1) ?? "";
  try {
    return String(JSON.parse(last).error);
  } catch {
    return last;
  }
}

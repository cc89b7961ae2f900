import { type Check, type Finding, ok, problem, warning } from "./finding.ts";
import { clockIn } from "./running.ts";

const ADVICE = "let the system set its clock (timedatectl set-ntp true): a signature counts for " +
  "five minutes only";

/** Whether this machine's clock agrees with those of the relayer, the public address, its files. */
export const clock: Check = {
  name: "clock",
  async look({ running, publicly, prepared: { settings }, now }) {
    const found: Finding[] = [];
    if (running.who === "relayer" && running.clock !== undefined) {
      found.push(apart(running.clock - now, "the relayer's"));
    }
    if (publicly !== undefined && !(publicly instanceof Error)) {
      const time = clockIn(publicly);
      if (time !== undefined) found.push(apart(time - now, "that of SVC_PUBLIC_URL"));
    }
    const newest = await newestChange(settings.dataDir);
    if (newest - now > 60_000) found.push(apart(newest - now, "the newest file's"));
    return found.length > 0 ? found : [ok("no file is newer than this machine's time")];
  },
};

/** What is to be said of clocks so many milliseconds apart. */
export function apart(ms: number, whose: string): Finding {
  const seconds = Math.abs(Math.round(ms / 1000));
  const found = `this machine's time and ${whose} are ${seconds} s apart`;
  if (seconds > 300) return problem(found, ADVICE);
  return seconds > 60 ? warning(found, ADVICE) : ok(found);
}

async function newestChange(folder: string): Promise<number> {
  let newest = 0;
  try {
    for await (const { name } of Deno.readDir(folder)) {
      const { mtime } = await Deno.lstat(`${folder}/${name}`);
      newest = Math.max(newest, mtime?.getTime() ?? 0);
    }
  } catch {
    // There is none yet, or a file ended meanwhile.
  }
  return newest;
}

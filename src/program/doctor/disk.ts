import { dirname } from "node:path";
import { type Check, type Finding, ok, problem, warning } from "./finding.ts";

const MIB = 1024 * 1024;
const ADVICE = "free some room, or move SVC_DATA_DIR: on a full disk every write is refused";

/** Whether there is room for what will be remembered. */
export const disk: Check = {
  name: "disk",
  async look({ prepared: { settings: { dataDir } } }) {
    const folder = await existing(dataDir);
    const free = await freeBytes(folder);
    return [free === undefined ? ok("its free space cannot be told here") : room(free, folder)];
  },
};

/** What is to be said of so many free bytes. */
export function room(bytes: number, folder: string): Finding {
  const found = `${(bytes / (1024 * MIB)).toFixed(1)} GiB are free for ${folder}`;
  if (bytes < 100 * MIB) return problem(found, ADVICE);
  return bytes < 1024 * MIB ? warning(found, ADVICE) : ok(found);
}

/** The nearest folder that exists. */
async function existing(path: string): Promise<string> {
  if (await Deno.stat(path).then(() => true, () => false)) return path;
  const folder = dirname(path);
  return folder === path ? path : await existing(folder);
}

/** By `df`, because Deno's own call needs a permission that commands are not given. */
async function freeBytes(folder: string): Promise<number | undefined> {
  const text = await outputOf('df -Pk "$1"', folder);
  const blocks = /\n\S.*?\s+\d+\s+\d+\s+(\d+)\s+\d+%/.exec(text)?.[1];
  return blocks === undefined ? undefined : Number(blocks) * 1024;
}

/** What a script of the shell prints; nothing where there is no shell, or it fails. */
export async function outputOf(script: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command("/bin/sh", {
      // Some services are started without a search path.
      args: ["-c", `PATH=$PATH:/usr/bin:/bin; ${script}`, "sh", ...args],
      stdin: "null",
      stderr: "null",
      env: { LC_ALL: "C" },
    }).output();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
}

/** Processes that a process has started, and those that these have; itself first. */
export async function familyOf(pid: number): Promise<number[]> {
  const path = `/proc/${pid}/task/${pid}/children`;
  const children = await Deno.readTextFile(path).catch(() => "");
  const families = children.split(" ").filter(Boolean).map((child) => familyOf(Number(child)));
  return [pid, ...(await Promise.all(families)).flat()];
}

/** Sends a signal to processes; those that have ended meanwhile are left out. */
export function signal(pids: readonly number[], name: Deno.Signal): void {
  for (const pid of pids) {
    try {
      Deno.kill(pid, name);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** What a process was started with. */
export async function commandOf(pid: number): Promise<string[]> {
  const text = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
  return text.split("\0");
}

/** Niceness of every thread of a process on Linux by its id, from proc(5). */
export function threadNiceness(pid: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    const stat = statOf(pid, name);
    // Fields from the state on, the third, stand behind the command's name.
    if (stat !== undefined) {
      found.set(name, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19 - 3]));
    }
  }
  return found;
}

/** Threads of a process that are new and have a niceness; others may start threads meanwhile. */
export function newThreads(
  pid: number,
  before: ReadonlyMap<string, number>,
  niceness: number,
): string[] {
  const now = [...threadNiceness(pid)];
  return now.filter(([id, nice]) => !before.has(id) && nice === niceness).map(([id]) => id);
}

function statOf(pid: number, thread: string): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/task/${thread}/stat`);
  } catch {
    return undefined; // It has ended.
  }
}

/** Niceness of every thread of a process on Linux, from proc(5). */
export function threadNiceness(pid: number): number[] {
  return Array.from(Deno.readDirSync(`/proc/${pid}/task`), ({ name }) => {
    const stat = Deno.readTextFileSync(`/proc/${pid}/task/${name}/stat`);
    // Fields from the state on, the third, stand behind the command's name.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19 - 3]);
  });
}

/** Every core of the machine. */
export const ALL_CORES = `0-${navigator.hardwareConcurrency - 1}`;

/**
 * Binds all threads of a process to cores, as `taskset` of util-linux names them.
 *
 * @throws {Error} where there is no such program, or it refuses.
 */
export async function bindToCores(pid: number, cores: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("taskset", {
    args: ["--all-tasks", "--cpu-list", "--pid", cores, String(pid)],
    stdout: "null",
  }).output();
  if (!success) throw new Error(`taskset: ${new TextDecoder().decode(stderr)}`);
}

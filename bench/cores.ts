/** Every core of the machine. */
export const ALL_CORES = `0-${navigator.hardwareConcurrency - 1}`;

/**
 * Binds all threads of a process to cores, as `taskset` of util-linux names them.
 *
 * @returns Whether they are: other systems have no such program.
 */
export async function bindToCores(pid: number, cores: string): Promise<boolean> {
  const args = ["--all-tasks", "--cpu-list", "--pid", cores, String(pid)];
  try {
    const command = new Deno.Command("taskset", { args, stdout: "null", stderr: "null" });
    return (await command.output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const NAME = /^svc-backup-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.age$/;

/** Paths of the backups in a folder, oldest first. */
export async function backupsIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (isFile && NAME.test(name)) names.push(name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort().map((name) => `${folder}/${name}`);
}

/** When a backup was begun, milliseconds since the epoch. */
export function timeOf(path: string): number {
  const [, ...parts] = NAME.exec(path.slice(path.lastIndexOf("/") + 1)) ?? [];
  const [year = 0, month = 0, ...rest] = parts.map(Number);
  return Date.UTC(year, month - 1, ...rest);
}

/** Path of a new backup: the present time, later where that is taken. */
export function freeName(folder: string, taken: readonly string[]): string {
  for (let time = Date.now();; time += 1000) {
    const stamp = new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
    const path = `${folder}/svc-backup-${stamp}.age`;
    if (!taken.includes(path)) return path;
  }
}

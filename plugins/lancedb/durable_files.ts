/** Clocks of the file system may be coarse, and lag behind the process's. */
const SLACK_MS = 2000;

async function syncPath(path: string): Promise<void> {
  try {
    using file = await Deno.open(path);
    await file.syncData();
  } catch (error) {
    // A file that a clean-up removed meanwhile needs no promise.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Makes the files of a folder that changed since a time durable, and then the folders that name
 * them: LanceDB itself fsyncs nothing.
 *
 * @param since Milliseconds since the epoch; 0: all files.
 */
export async function syncFiles(folder: string, since: number): Promise<void> {
  const windows = Deno.build.os === "windows"; // a directory cannot be opened there
  for await (const item of Deno.readDir(folder)) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory) {
      await syncFiles(path, since);
      continue;
    }
    const info = await Deno.stat(path).catch(() => undefined);
    if (info !== undefined && (info.mtime?.getTime() ?? since) >= since - SLACK_MS) {
      await syncPath(path);
    }
  }
  if (!windows) await syncPath(folder);
}

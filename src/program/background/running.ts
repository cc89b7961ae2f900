import { SvcError } from "../../errors.ts";
import { lockDataFolder } from "../../storage/data_lock.ts";

/** What a started program leaves for those that stop it. */
interface LauncherFile {
  readonly pid: number;
  /** When it started, ISO 8601. */
  readonly started: string;
}

const fileOf = (dataDir: string) => `${dataDir}/launcher.json`;

/** Says who runs in a data directory, until it is disposed of. */
export async function noteLauncher(dataDir: string): Promise<AsyncDisposable> {
  const file: LauncherFile = { pid: Deno.pid, started: new Date().toISOString() };
  const path = fileOf(dataDir);
  await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(path, JSON.stringify(file) + "\n", { mode: 0o600 });
  return {
    async [Symbol.asyncDispose]() {
      try {
        const { pid } = JSON.parse(await Deno.readTextFile(path)) as LauncherFile;
        // Another program may have started meanwhile.
        if (pid === Deno.pid) await Deno.remove(path);
      } catch {
        // It is gone already.
      }
    },
  };
}

/** Whether a relayer has a data directory. */
export async function isInUse(dataDir: string): Promise<boolean> {
  try {
    (await lockDataFolder(dataDir))[Symbol.dispose]();
    return false;
  } catch (error) {
    if (error instanceof SvcError && /Another relayer/.test(error.message)) return true;
    if (error instanceof SvcError && error.cause instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The program that runs in a data directory; `undefined` where none does. */
export async function runningLauncher(dataDir: string): Promise<LauncherFile | undefined> {
  try {
    const found: LauncherFile = JSON.parse(await Deno.readTextFile(fileOf(dataDir)));
    // A program that was killed leaves the file; the next process with its number is not it.
    return await isInUse(dataDir) ? found : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

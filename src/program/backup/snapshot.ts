import { SvcError } from "../../errors.ts";
import { folderOf } from "../../storage/private_file.ts";
import { copyDatabase, openForReading } from "../../storage/sqlite/sqlite_file.ts";

/** Name of a file whose lock keeps what stands in its folder as it is, but for databases. */
const HOLD = "backup.lock";

/**
 * Databases in the order in which they are copied. What waits is copied first: whatever a job has
 * done since is in the files that come later, and a repeated job does nothing twice. A row of the
 * index comes after its blob, so the blobs are copied after the index. Last of all is what says which
 * memories were deleted.
 */
const ORDER = ["jobs.kv", "*", "index.db", "blobs.db", "core.db"];

const place = (path: string): number => {
  const found = ORDER.indexOf(path);
  return found < 0 ? ORDER.indexOf("*") : found;
};

const isDatabase = (path: string): boolean => /\.(db|kv)$/.test(path);
/** Files that belong to one process, or are made anew from the others. */
const isLeftOut = (path: string): boolean =>
  /(-wal|-shm|-journal|\.lock|\.new|\.tmp)$/.test(path) || path.startsWith("words/");

/** Paths of the files below a folder, in the order in which they are copied. */
async function filesIn(root: string): Promise<string[]> {
  const found: string[] = [];
  const look = async (folder: string): Promise<void> => {
    for await (const { name, isFile, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
      const path = `${folder}${name}`;
      if (isDirectory) await look(`${path}/`);
      else if (isFile && !isLeftOut(path)) found.push(path);
    }
  };
  await look("");
  return found.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

/**
 * Looks through a database.
 *
 * @throws {SvcError} `storage_unavailable` when it is damaged.
 */
export function checkDatabase(path: string): void {
  using database = openForReading(path);
  const [result] = Object.values(database.prepare("pragma quick_check(1)").get() ?? {});
  if (result === "ok") return;
  throw new SvcError("storage_unavailable", `${path} is damaged`, { retryable: false });
}

/** Keeps what stands in the first folder of a path, where its files ask for that. */
async function hold(root: string, folder: string): Promise<Disposable> {
  const path = `${root}/${folder}/${HOLD}`;
  if (folder === "" || !await Deno.stat(path).then(() => true, () => false)) {
    return { [Symbol.dispose]() {} };
  }
  const file = await Deno.open(path, { write: true });
  await file.lock(true);
  return file;
}

/**
 * Copies a data directory, whether a relayer uses it or not: the copy holds everything that was
 * accepted before.
 *
 * @param to Folder that exists and is empty.
 * @param copied Told after each file how many of how many are copied.
 * @returns paths of the files, relative to the folder.
 * @throws {SvcError} `storage_unavailable` when a database is damaged.
 */
export async function takeSnapshot(
  dataDir: string,
  to: string,
  copied: (done: number, all: number) => void = () => {},
): Promise<string[]> {
  const paths: string[] = [];
  const folders = new Map<string, string[]>();
  const all = await filesIn(dataDir);
  // In this order: a map keeps the one in which its keys came.
  for (const path of all) {
    const folder = path.includes("/") ? path.split("/", 1)[0]! : "";
    const key = folder === "" ? path : `${folder}/`;
    folders.set(key, [...folders.get(key) ?? [], path]);
  }
  for (const [key, known] of folders) {
    const folder = key.endsWith("/") ? key.slice(0, -1) : "";
    using _held = await hold(dataDir, folder);
    // Files of a folder may have come and gone until it was held.
    const now = folder === ""
      ? known
      : (await filesIn(`${dataDir}/${folder}`)).map((p) => `${folder}/${p}`);
    for (const path of now) {
      await copyFile(`${dataDir}/${path}`, `${to}/${path}`);
      paths.push(path);
      copied(Math.min(paths.length, all.length), all.length);
    }
  }
  return paths;
}

async function copyFile(from: string, to: string): Promise<void> {
  await Deno.mkdir(folderOf(to), { recursive: true, mode: 0o700 });
  if (isDatabase(from)) {
    await copyDatabase(from, to);
    checkDatabase(to);
  } else await Deno.copyFile(from, to);
  if (Deno.build.os !== "windows") await Deno.chmod(to, 0o600);
}

import { SvcError } from "../../errors.ts";
import { replaceFile } from "../../replace_file.ts";
import { lockDataFolder } from "../../storage/data_lock.ts";
import { folderOf, makePrivateFolder } from "../../storage/private_file.ts";
import { unpackArchive } from "./archive.ts";
import { DATA_NAME, KEY_NAME } from "./make.ts";
import { checkDatabase } from "./snapshot.ts";

/** Where a backup goes. */
export interface RestorePlan {
  readonly path: string;
  readonly identities: readonly string[];
  readonly dataDir: string;
  /** Where the relayer key goes, if the backup has one. */
  readonly keyFile: string | undefined;
  /** Moves what is there aside, instead of refusing. */
  readonly replace: boolean;
}

/** What was put back, and where that went which was there before. */
export interface Restored {
  readonly files: number;
  readonly key: boolean;
  readonly aside: readonly string[];
}

const exists = (path: string) => Deno.lstat(path).then(() => true, () => false);

async function isEmpty(folder: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(folder)) return false;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return true;
}

const refused = (message: string) => new SvcError("invalid_parameter", message);

/** Files of the folder, each database looked through. */
async function checked(folder: string): Promise<number> {
  let count = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) count += await checked(path);
    else {
      if (/\.(db|kv)$/.test(name)) checkDatabase(path);
      count++;
    }
  }
  return count;
}

/** Moves what is at a path aside; where it is then. */
async function putAside(path: string, stamp: string): Promise<string[]> {
  if (!await exists(path)) return [];
  const aside = `${path}.before-${stamp}`;
  await replaceFile(path, aside);
  return [aside];
}

/**
 * Puts a backup back. Nothing that is there is changed before the backup was unpacked and looked
 * through, and nothing is deleted.
 *
 * @throws {SvcError} `invalid_parameter` when there is data or another key already, a relayer runs,
 * or no identity opens it; `storage_unavailable` when the backup is damaged.
 */
export async function restoreBackup(plan: RestorePlan): Promise<Restored> {
  const { dataDir, keyFile, replace } = plan;
  const isUsed = !await isEmpty(dataDir);
  if (isUsed && !replace) {
    throw refused(`${dataDir} is not empty; --replace moves what is there aside`);
  }
  const work = `${dataDir}.restoring`;
  await Deno.remove(work, { recursive: true }).catch(() => {});
  await makePrivateFolder(work);
  try {
    await unpackArchive(plan.path, plan.identities, work);
    const data = `${work}/${DATA_NAME}`;
    if (!await exists(`${data}/core.db`)) throw refused(`${plan.path} holds no data of a relayer`);
    const files = await checked(data);
    const archivedKey = `${work}/${KEY_NAME}`;
    const hasKey = await exists(archivedKey);
    const movesKey = hasKey && keyFile !== undefined && !await isSame(archivedKey, keyFile);
    if (movesKey && await exists(keyFile) && !replace) {
      throw refused(`${keyFile} is another relayer key; --replace moves it aside`);
    }
    const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    const aside: string[] = [];
    if (isUsed) {
      // A relayer that runs has the lock, and would go on writing into what is moved.
      (await lockDataFolder(dataDir))[Symbol.dispose]();
    }
    if (movesKey) {
      aside.push(...await putAside(keyFile, stamp));
      await makePrivateFolder(folderOf(keyFile));
      await Deno.copyFile(archivedKey, keyFile);
      if (Deno.build.os !== "windows") await Deno.chmod(keyFile, 0o600);
    }
    if (isUsed) aside.push(...await putAside(dataDir, stamp));
    else await Deno.remove(dataDir).catch(() => {});
    await replaceFile(data, dataDir);
    return { files, key: hasKey, aside };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function isSame(a: string, b: string): Promise<boolean> {
  const read = (path: string) => Deno.readTextFile(path).catch(() => undefined);
  return (await read(a))?.trim() === (await read(b))?.trim();
}

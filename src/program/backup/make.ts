import { SvcError } from "../../errors.ts";
import { replaceFile } from "../../replace_file.ts";
import { keyFromHex } from "../../sealing/key_file.ts";
import { RelayerKey } from "../../sealing/relayer_key.ts";
import { keysThatOpen } from "../../storage/core/key_slot_table.ts";
import { ensurePrivateFolder, makePrivateFolder } from "../../storage/private_file.ts";
import { type ArchivedFile, verifyArchive, writeArchive } from "./archive.ts";
import { backupsIn, freeName } from "./files.ts";
import { recipientOf } from "./keys.ts";
import { takeSnapshot } from "./snapshot.ts";

/** Name of the relayer key in an archive, and of the folder with the data. */
export const KEY_NAME = "relayer.key";
export const DATA_NAME = "data";

/** What goes into a backup, and whom it is for. */
export interface BackupPlan {
  readonly dataDir: string;
  /** File of the relayer key, where it is a file. */
  readonly keyFile: string | undefined;
  /** Folder of the backups. */
  readonly folder: string;
  /** How many backups stay, the newest; absent: all. */
  readonly keep?: number | undefined;
  /** Identities that are at hand; the first opens the backup to look it through. */
  readonly identities: readonly string[];
  /** Whom it is for besides, `age1…`. */
  readonly recipients: readonly string[];
  /** Told how far it is, 0 to 1. */
  readonly progress?: (done: number) => void;
}

/** A backup that was written, and looked through. */
export interface MadeBackup {
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
  /** Older backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Writes a backup of a data directory, whether a relayer uses it or not, reads it back, and removes
 * backups that are too many.
 *
 * @throws {SvcError} `not_found` without data, `storage_unavailable` when the disk refuses, or what
 * was written is not what was read.
 */
export async function makeBackup(plan: BackupPlan): Promise<MadeBackup> {
  const { dataDir, keyFile, folder, identities, keep } = plan;
  if (!await Deno.stat(`${dataDir}/core.db`).then(() => true, () => false)) {
    throw new SvcError("not_found", `There is nothing in ${dataDir} yet`);
  }
  const own = await Promise.all(identities.map(recipientOf));
  await makePrivateFolder(folder);
  const before = await backupsIn(folder);
  const path = freeName(folder, before);
  const work = `${path}.tmp`;
  await ensurePrivateFolder(work);
  try {
    // Copying is most of the work; reading the file back is about a third.
    const report = (share: number) => plan.progress?.(share);
    const keyCopy = `${work}/${KEY_NAME}`;
    if (keyFile !== undefined) await Deno.copyFile(keyFile, keyCopy);
    const paths = await takeSnapshot(dataDir, work, (done, all) => report(0.4 * done / all));
    const files: ArchivedFile[] = paths.map((name) => (
      { name: `${DATA_NAME}/${name}`, path: `${work}/${name}` }
    ));
    if (keyFile !== undefined) {
      await checkKey(keyCopy, `${work}/core.db`);
      files.unshift({ name: KEY_NAME, path: keyCopy });
    }
    const digest = await writeArchive(`${work}/backup`, files, [...own, ...plan.recipients]);
    report(0.7);
    if (identities.length > 0) await verifyArchive(`${work}/backup`, identities, digest);
    await replaceFile(`${work}/backup`, path);
    report(1);
    const { size: bytes } = await Deno.stat(path);
    const removed = keep === undefined ? [] : [...before, path].slice(0, -keep);
    for (const old of removed) await Deno.remove(old);
    return { path, bytes, files: files.length, removed };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** A key that was changed between the two copies would make a backup that nothing opens. */
async function checkKey(path: string, core: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  const key = new RelayerKey(keyFromHex(text.trim(), "The relayer key"));
  const letIn = keysThatOpen(core);
  if (letIn.length === 0 || letIn.includes(key.fingerprint())) return;
  throw new SvcError(
    "storage_unavailable",
    "The relayer key does not open the data: svc doctor says more, or try again if it was changed",
  );
}

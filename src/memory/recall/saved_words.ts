import type { LoadedScope } from "../../index/loaded_scope.ts";
import type { Cipher, Scope } from "../../interfaces/mod.ts";
import type { WordsFiles } from "../../storage/words_files.ts";
import type { Caller } from "../caller.ts";
import { type BlobContent, blobHead, decodeBlob } from "../record.ts";
import { packPieces, unpackPieces } from "./word_records.ts";

/** Fewer texts are read as fast as a file is. */
const FEW = 256;
/** What is known of the texts of about 30,000 memories; more is not kept. */
const MAX_BYTES = 32 * 1024 * 1024;
/** A scope's texts are written at most so often, milliseconds. */
const PAUSE_MS = 30_000;
/** Stands for a scope's texts where a memory's id belongs; no memory has it. */
const ID = "00000000-0000-8000-8000-007465787473";
/** Bytes before each sealed record: its length, big endian. */
const LENGTH_BYTES = 4;
/** Records opened at once: more threads would keep the event loop from its core. */
const AT_ONCE = 2;

/** Where the words of scopes are kept on disk. */
export interface SavingWords {
  readonly wordsFiles: Pick<WordsFiles, "read" | "write" | "drops">;
  readonly cipher: Pick<Cipher, "seal" | "open">;
  readonly now: () => number;
}

/**
 * What is on disk of a scope, opened with the caller's credential; `undefined` where there is
 * nothing that could be opened. Whose credential is refused is told by the memories.
 */
export async function openSavedWords(
  domain: SavingWords,
  { account, credential }: Caller,
  scope: Scope,
): Promise<readonly Uint8Array[] | undefined> {
  const bytes = await domain.wordsFiles.read(scope);
  const blobs = bytes === undefined ? [] : blobsOf(bytes);
  if (blobs.length === 0 || blobs.some(({ memoryId }) => memoryId !== ID)) return undefined;
  const records: Uint8Array[] = [];
  for (let at = 0; at < blobs.length; at += AT_ONCE) {
    const opened = await domain.cipher.open(blobs.slice(at, at + AT_ONCE), {
      ...scope,
      accountId: account.accountId,
      ...(credential === undefined ? {} : { credential }),
    });
    for (const item of opened) {
      if (item.status === "rejected") return undefined;
      records.push(item.value);
    }
  }
  return unpackPieces(records);
}

/** The blobs of a file; nothing where it has another format. */
function blobsOf(bytes: Uint8Array): BlobContent[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blobs: BlobContent[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at + LENGTH_BYTES;
    if (start > bytes.length) return [];
    at = start + view.getUint32(start - LENGTH_BYTES);
    const blob = at > bytes.length ? undefined : decodeBlob(bytes.subarray(start, at));
    if (blob === undefined) return [];
    blobs.push(blob);
  }
  return blobs;
}

/**
 * Takes over what is on disk, where most texts of a scope are unknown.
 *
 * @param opening What `openSavedWords` was asked for already.
 */
export async function takeSavedWords(
  domain: SavingWords,
  caller: Caller,
  loaded: LoadedScope,
  opening: Promise<readonly Uint8Array[] | undefined> | undefined,
): Promise<void> {
  const { scope, progress } = loaded;
  const count = loaded.entries().length;
  const isRecent = domain.now() - progress.readAt < PAUSE_MS;
  if (count < FEW || loaded.texts * 2 > count || isRecent) return;
  progress.readAt = domain.now();
  progress.drops = domain.wordsFiles.drops(scope);
  const pieces = await (opening ?? openSavedWords(domain, caller, scope));
  if (pieces !== undefined && loaded.takeWords(pieces)) progress.saved = loaded.texts;
}

/** Writes what is known, when that is much more than what is on disk. */
export function saveWords(domain: SavingWords, { account }: Caller, loaded: LoadedScope): void {
  const { scope, progress, texts } = loaded;
  const drops = domain.wordsFiles.drops(scope);
  if (progress.drops !== drops) progress.saved = 0;
  const change = Math.abs(texts - progress.saved);
  if (texts < FEW || change < Math.max(FEW, progress.saved / 4)) return;
  if (progress.writing || domain.now() - progress.writtenAt < PAUSE_MS) return;
  progress.writtenAt = domain.now();
  const pieces = loaded.snapshotWords(MAX_BYTES);
  if (pieces === undefined) return;
  progress.writing = true;
  const make = async function* () {
    const context = { ...scope, accountId: account.accountId, memoryId: ID };
    for (const record of packPieces(pieces)) {
      const sealed = await domain.cipher.seal(record, context);
      const head = blobHead({ memoryId: ID, ...sealed });
      const length = new Uint8Array(LENGTH_BYTES);
      new DataView(length.buffer).setUint32(0, head.length + sealed.record.length);
      yield length;
      yield head;
      yield sealed.record;
    }
  };
  void domain.wordsFiles.write(scope, drops, make)
    .then(() => Object.assign(progress, { saved: texts, drops }))
    // What cannot be written is read from the memories again.
    .catch(() => {})
    .finally(() => progress.writing = false);
}

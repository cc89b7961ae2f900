import type { Uses } from "../parts.ts";
import type { LoadedScope } from "../../index/resident_scope.ts";
import type { Scope } from "../../interfaces/mod.ts";
import type { Caller } from "../caller.ts";
import { type BlobContent, blobHead, decodeBlob } from "../record.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import { Slices } from "../../index/scope_loading.ts";
import { partsOf } from "../large_reads.ts";
import { type Opening, openMemories } from "../open.ts";

/** Fewer texts are opened as fast as a file is. */
const FEW = 256;
/** Largest file: the words of about 30,000 memories. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Id under which a scope's words are sealed; no memory has it. */
const ID = "00000000-0000-8000-8000-007465787473";
/** Records opened at once: more threads would take the event loop's core. */
const AT_ONCE = 2;

/** Where the words of scopes are kept. */
type SavingWords = Uses<{
  savedWords: "read" | "write" | "drops" | "pauseMs" | "isBusy";
  owners: "holdOwn";
  cipher: "seal" | "open";
  now: true;
}>;

/**
 * The words of a scope that were kept, opened with the caller's credential; `undefined` where nothing
 * can be opened. A refused credential is reported when the memories are opened.
 */
export async function openSavedWords(
  domain: SavingWords,
  { account, credential }: Caller,
  scope: Scope,
): Promise<readonly Uint8Array[] | undefined> {
  const blobs = blobsOf(await domain.savedWords.read(scope));
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
  return records;
}

/** The blobs in records; nothing where one has another format. */
function blobsOf(records: readonly Uint8Array[]): BlobContent[] {
  const blobs: BlobContent[] = [];
  for (const record of records) {
    const blob = decodeBlob(record);
    if (blob === undefined) return [];
    blobs.push(blob);
  }
  return blobs;
}

/**
 * Takes over what was kept, where most texts of a scope are unknown.
 *
 * @param opening What `openSavedWords` was asked for already.
 */
async function takeSavedWords(
  domain: SavingWords,
  caller: Caller,
  loaded: LoadedScope,
  opening: Promise<readonly Uint8Array[] | undefined> | undefined,
): Promise<void> {
  const { scope, progress } = loaded;
  const count = loaded.entries().length;
  const isRecent = domain.now() - progress.readAt < domain.savedWords.pauseMs;
  if (count < FEW || loaded.texts * 2 > count || isRecent) return;
  progress.readAt = domain.now();
  progress.drops = domain.savedWords.drops(scope);
  const records = await (opening ?? openSavedWords(domain, caller, scope));
  const unknown = records && loaded.takeWords(records);
  // With words of what is gone they are written anew: a relayer that ended may have left them.
  if (unknown !== undefined) progress.saved = unknown > 0 ? 0 : loaded.texts;
}

/** Writes the words of a scope when they are much more than those that were kept. */
function saveWords(domain: SavingWords, { account }: Caller, loaded: LoadedScope): void {
  const { scope, progress, texts } = loaded;
  const drops = domain.savedWords.drops(scope);
  if (progress.drops !== drops) progress.saved = 0;
  const change = Math.abs(texts - progress.saved);
  if (texts < FEW || change < Math.max(FEW, progress.saved / 4)) return;
  if (progress.writing || domain.savedWords.isBusy) return;
  if (domain.now() - progress.writtenAt < domain.savedWords.pauseMs) return;
  // From here on nobody else removes anything before the hold ends.
  const hold = domain.owners.holdOwn(scope.owner);
  if (hold === undefined) return;
  progress.writtenAt = domain.now();
  const records = loaded.snapshotWords(MAX_BYTES);
  if (records === undefined) return hold[Symbol.dispose]();
  progress.writing = true;
  const make = async function* () {
    const context = { ...scope, accountId: account.accountId, memoryId: ID };
    for (const record of records) {
      const sealed = await domain.cipher.seal(record, context);
      const head = blobHead({ memoryId: ID, ...sealed });
      const bytes = new Uint8Array(head.length + sealed.record.length);
      bytes.set(head);
      bytes.set(sealed.record, head.length);
      yield bytes;
    }
  };
  void domain.savedWords.write(scope, drops, make, hold)
    .then(() => Object.assign(progress, { saved: texts, drops }))
    // Without them the words are read from the memories again.
    .catch(() => {})
    .finally(() => progress.writing = false);
}

/** Records opened at once: they and their words take a millisecond. */
const BATCH = 32;
/** Somebody may write on and on: a recall looks so often for what has no words yet. */
const MOST_RUNS = 4;
/** A record that could not be opened for a temporary reason is tried again after this time. */
const RETRY_MS = 30_000;
/** Texts opened with a caller's credential are forgotten after this time, as data keys are. */
const OPEN_MS = 5 * 60_000;

/** Where the texts of a loaded scope are read and kept. */
export type ReadingWords = Uses<{ index: "forgetWordsAfter" }, Opening & SavingWords>;

/**
 * Opens the records of a scope whose words are not indexed yet, with the caller's credential, and
 * indexes them. Callers share the work. What cannot be opened is found by meaning only.
 *
 * @param opening What `openSavedWords` was asked for before the scope was loaded.
 * @throws {SvcError} `decrypt_credential_invalid`; what the cipher as a whole is refused with;
 * `overloaded` when the scope was released meanwhile.
 */
export async function readWords(
  domain: ReadingWords,
  caller: Caller,
  loaded: LoadedScope,
  opening?: Promise<readonly Uint8Array[] | undefined>,
): Promise<void> {
  const { progress } = loaded;
  /** What this caller has read, or could not. */
  const seen = new Set<IndexedMemory>();
  const isLeft = () => unread(domain, loaded).some((memory) => !seen.has(memory));
  // What is corrected meanwhile has no words again, where a job may not index them.
  for (let runs = 0; runs < MOST_RUNS && isLeft();) {
    if (progress.running === undefined) {
      runs++;
      for (const memory of unread(domain, loaded)) seen.add(memory);
      const running = progress.running = readAll(domain, caller, loaded, opening).finally(() => {
        progress.running = undefined;
        // Also after a failure: the texts read before it are in RAM.
        if (domain.cipher.needsCredential) domain.index.forgetWordsAfter(loaded.scope, OPEN_MS);
      });
      // What was there when the caller came has been read once.
      await (runs === 1 ? running : running.catch(() => {}));
      caller.signal?.throwIfAborted();
      continue;
    }
    // Another caller's credential may be refused; this caller's may not be.
    await progress.running.catch(() => {});
    caller.signal?.throwIfAborted();
  }
  saveWords(domain, caller, loaded);
}

function unread({ now }: ReadingWords, loaded: LoadedScope): IndexedMemory[] {
  const { failed } = loaded.progress;
  const time = now();
  return loaded.withoutText().filter(({ id }) => (failed.get(id) ?? -Infinity) <= time);
}

async function readAll(
  domain: ReadingWords,
  { account, credential }: Caller,
  loaded: LoadedScope,
  opening: Promise<readonly Uint8Array[] | undefined> | undefined,
): Promise<void> {
  const { scope, progress: { failed } } = loaded;
  // Not the caller's signal: others may wait for the same texts.
  const opener: Caller = credential === undefined ? { account } : { account, credential };
  await takeSavedWords(domain, opener, loaded, opening);
  const memories = unread(domain, loaded);
  const slices = new Slices();
  for (const batch of partsOf(memories, BATCH)) {
    // Opening records may never yield to the event loop, so yield here.
    await slices.rest();
    const opened = await openMemories(domain, opener, scope, batch.filter(hasText));
    let next = 0;
    for (const memory of batch) {
      const item = hasText(memory) ? opened[next++] : undefined;
      if (item !== undefined && "deleted" in item) continue;
      if (item !== undefined && "error" in item && item.error.retryable) {
        failed.set(memory.id, domain.now() + RETRY_MS);
        continue;
      }
      // A damaged record stays damaged: it counts as a text without words.
      const text = item !== undefined && "record" in item ? item.record.text : "";
      loaded.setText(memory.id, memory.version, text);
    }
  }
}

/** A manual memory has no text that the relayer could open. */
function hasText(memory: IndexedMemory): boolean {
  return memory.source !== "manual";
}

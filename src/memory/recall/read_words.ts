import type { IndexedMemory } from "../../index/ranking.ts";
import type { LoadedScope } from "../../index/resident_scope.ts";
import type { ScopeIndex } from "../../index/scope_index.ts";
import { Slices } from "../../index/scope_loading.ts";
import type { Caller } from "../caller.ts";
import { type Opening, openMemories } from "../open.ts";
import { saveWords, type SavingWords, takeSavedWords } from "./saved_words.ts";

/** Records opened at once: they and their words take a millisecond. */
const BATCH = 32;
/** A record that could not be opened for a temporary reason is tried again after this time. */
const RETRY_MS = 30_000;
/** Without the caller's credential nothing may stay open for longer than a data key. */
const OPEN_MS = 5 * 60_000;

/** Where the texts of a loaded scope are read and kept. */
export type ReadingWords = Opening & SavingWords & {
  readonly index: Pick<ScopeIndex, "forgetWordsAfter">;
};

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
  for (;;) {
    if (unread(domain, loaded).length === 0) return saveWords(domain, caller, loaded);
    if (progress.running === undefined) {
      progress.running = readAll(domain, caller, loaded, opening).finally(() => {
        progress.running = undefined;
        // Also of a reading that was broken off: what it has read by then is known.
        if (domain.cipher.needsCredential) domain.index.forgetWordsAfter(loaded.scope, OPEN_MS);
      });
      await progress.running;
      return saveWords(domain, caller, loaded);
    }
    // Another caller's credential may be refused; that is no answer for this one.
    await progress.running.catch(() => {});
    caller.signal?.throwIfAborted();
  }
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
  for (let at = 0; at < memories.length; at += BATCH) {
    // Opening records may be nothing but computation: awaiting it lets no request in.
    await slices.rest();
    const batch = memories.slice(at, at + BATCH);
    const opened = await openMemories(domain, opener, scope, batch.filter(hasText));
    let next = 0;
    for (const memory of batch) {
      const item = hasText(memory) ? opened[next++] : undefined;
      if (item !== undefined && "deleted" in item) continue;
      if (item !== undefined && "error" in item && item.error.retryable) {
        failed.set(memory.id, domain.now() + RETRY_MS);
        continue;
      }
      // A damaged record stays damaged: its words are none.
      const text = item !== undefined && "record" in item ? item.record.text : "";
      loaded.setText(memory.id, memory.version, text);
    }
  }
}

/** A manual memory has no text that the relayer could open. */
function hasText(memory: IndexedMemory): boolean {
  return memory.source !== "manual";
}

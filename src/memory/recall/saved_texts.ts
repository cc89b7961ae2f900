import type { LoadedScope } from "../../index/loaded_scope.ts";
import type { Scope } from "../../interfaces/mod.ts";
import type { Caller, Domain } from "../domain.ts";
import { type BlobContent, blobHead, decodeBlob } from "../record.ts";
import { packPieces, unpackPieces } from "./text_records.ts";

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

/** What is known of a scope's file. Times are milliseconds since the epoch. */
interface State {
  /** Texts in it, as far as known. */
  texts: number;
  /** Turn it was read or written in. */
  turn: number;
  readAt: number;
  writtenAt: number;
  writing: boolean;
}

const states = new WeakMap<LoadedScope, State>();

function stateOf(loaded: LoadedScope): State {
  return states.getOrInsertComputed(loaded, () => {
    return { texts: 0, turn: 0, readAt: -Infinity, writtenAt: -Infinity, writing: false };
  });
}

/**
 * What is on disk of a scope, opened with the caller's credential; `undefined` where there is
 * nothing that could be opened. Whose credential is refused is told by the memories.
 */
export async function openSavedTexts(
  domain: Domain,
  { account, credential }: Caller,
  scope: Scope,
): Promise<readonly Uint8Array[] | undefined> {
  const bytes = await domain.textFiles.read(scope);
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
 * @param opening What `openSavedTexts` was asked for already.
 */
export async function takeSavedTexts(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  loaded: LoadedScope,
  opening: Promise<readonly Uint8Array[] | undefined> | undefined,
): Promise<void> {
  const count = loaded.entries().length;
  const state = stateOf(loaded);
  if (count < FEW || loaded.texts * 2 > count || domain.now() - state.readAt < PAUSE_MS) return;
  state.readAt = domain.now();
  state.turn = domain.textFiles.turn(scope);
  const pieces = await (opening ?? openSavedTexts(domain, caller, scope));
  if (pieces !== undefined && loaded.takeTexts(pieces)) state.texts = loaded.texts;
}

/** Writes what is known, when that is much more than what is on disk. */
export function saveTexts(
  domain: Domain,
  { account }: Caller,
  scope: Scope,
  loaded: LoadedScope,
): void {
  const state = stateOf(loaded);
  const turn = domain.textFiles.turn(scope);
  if (state.turn !== turn) state.texts = 0;
  const change = Math.abs(loaded.texts - state.texts);
  if (loaded.texts < FEW || change < Math.max(FEW, state.texts / 4)) return;
  if (state.writing || domain.now() - state.writtenAt < PAUSE_MS) return;
  state.writtenAt = domain.now();
  const pieces = loaded.snapshotTexts(MAX_BYTES);
  if (pieces === undefined) return;
  state.writing = true;
  const { texts } = loaded;
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
  void domain.textFiles.write(scope, turn, make)
    .then(() => Object.assign(state, { texts, turn }))
    // What cannot be written is read from the memories again.
    .catch(() => {})
    .finally(() => state.writing = false);
}

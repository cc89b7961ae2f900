import type { Note } from "../interfaces/mod.ts";

/** Seconds of a bucket: a nonce or a signed text is remembered for as long, two windows of 300 s. */
export const BUCKET_SECONDS = 600;

/** Bucket of a time, milliseconds since the epoch. */
export function bucketOf(at: number): number {
  return Math.floor(at / 1000 / BUCKET_SECONDS);
}

/** A change of the KV table. */
export type KvMutation =
  | {
    readonly key: Deno.KvKey;
    readonly value: unknown;
    /** About how many bytes the value takes; 256 when absent. */
    readonly bytes?: number;
    /** Milliseconds after which the entry may be dropped. */
    readonly expireIn?: number;
  }
  | { readonly key: Deno.KvKey; readonly remove: true }
  | {
    /** Texts and numbers; the items of a group that share it become one entry right below it. */
    readonly key: Deno.KvKey;
    /** Joined with the others, without any mark between them. */
    readonly item: Uint8Array;
  };

/**
 * What keeps a note in the KV table. Nonces and texts lie in buckets of ten minutes: `["used",
 * bucket, digest]` holds the answer to a signed text, `["nonces", bucket, …]` the digests of the
 * nonces of one commit, since most commits accept many requests and one entry is much cheaper than
 * many.
 */
export function noted(note: Note): KvMutation {
  if ("nonce" in note) return { key: ["nonces", bucketOf(note.at)], item: note.nonce };
  const { answer, at } = note;
  if ("text" in note) {
    return { key: ["used", bucketOf(at), note.text], value: answer, bytes: answer.length };
  }
  const { idempotency, body, until } = note;
  const value = { body, answer, until };
  const bytes = answer.length + 64;
  return { key: ["idempotency", idempotency], value, bytes, expireIn: until - at };
}

/** What an idempotency key is kept as. */
type Kept = Pick<Extract<Note, { readonly idempotency: unknown }>, "body" | "answer" | "until">;

/** Bytes of a digest. */
const DIGEST_BYTES = 32;
const PAGES = { batchSize: 500 };

/** Everything that is noted in the KV table; what was used is told by the start of its bucket. */
export async function* keptNotes(kv: Deno.Kv): AsyncGenerator<Note> {
  const now = Date.now();
  const at = (bucket: Deno.KvKeyPart | undefined) => Number(bucket) * BUCKET_SECONDS * 1000;
  for await (const { key, value } of kv.list<Uint8Array>({ prefix: ["used"] }, PAGES)) {
    yield { text: key[2] as Uint8Array, answer: value, at: at(key[1]) };
  }
  for await (const { key, value } of kv.list<Uint8Array>({ prefix: ["nonces"] }, PAGES)) {
    for (let from = 0; from < value.length; from += DIGEST_BYTES) {
      yield { nonce: value.slice(from, from + DIGEST_BYTES), at: at(key[1]) };
    }
  }
  for await (const { key, value } of kv.list<Kept>({ prefix: ["idempotency"] }, PAGES)) {
    if (value.until > now) yield { idempotency: key[1] as Uint8Array, ...value, at: now };
  }
}

import type { Note } from "../../../src/interfaces/mod.ts";
import type { Statements } from "../statements.ts";

/** Seconds of a bucket: a nonce is remembered for one at least, and for two at most. */
const BUCKET_SECONDS = 600;
/** Number of the lock under which partitions are made and dropped. */
const LOCK = 7_385_120;

/** What an answer belongs to. */
export const KIND = { text: 0, key: 1 } as const;

function bucketOf(at: number): number {
  return Math.floor(at / 1000 / BUCKET_SECONDS);
}

/** Notes as columns of the statement that keeps them. */
export interface NoteColumns {
  readonly buckets: readonly number[];
  readonly nonces: readonly Uint8Array[];
  readonly kinds: readonly number[];
  readonly digests: readonly Uint8Array[];
  readonly bodies: readonly (Uint8Array | null)[];
  readonly answers: readonly Uint8Array[];
  /** When each is forgotten, milliseconds since the epoch; of texts, when each was used. */
  readonly ends: readonly number[];
  /** Answers that may be replaced: sealed, so that no two are equal. */
  readonly replaced: readonly Uint8Array[];
  /** Keys whose time was over then may be used again. */
  readonly now: number;
}

interface AnswerRow {
  readonly kind: number;
  readonly digest: Uint8Array;
  readonly body: Uint8Array | null;
  readonly answer: Uint8Array;
  readonly ends: number;
}

export function columnsOfNotes(notes: readonly Note[]): NoteColumns {
  const nonces = notes.flatMap((note) =>
    "nonce" in note
      ? [0, 1].map((next) => ({ bucket: bucketOf(note.at) + next, digest: note.nonce }))
      : []
  );
  const answers = notes.flatMap((note): AnswerRow[] => {
    if ("nonce" in note) return [];
    const { answer } = note;
    return "text" in note
      ? [{ kind: KIND.text, digest: note.text, body: null, answer, ends: note.at }]
      : [{ kind: KIND.key, digest: note.idempotency, body: note.body, answer, ends: note.until }];
  });
  return {
    buckets: nonces.map(({ bucket }) => bucket),
    nonces: nonces.map(({ digest }) => digest),
    kinds: answers.map(({ kind }) => kind),
    digests: answers.map(({ digest }) => digest),
    bodies: answers.map(({ body }) => body),
    answers: answers.map(({ answer }) => answer),
    ends: answers.map(({ ends }) => ends),
    replaced: notes.flatMap((note) =>
      "nonce" in note || note.replaces === undefined ? [] : [note.replaces]
    ),
    now: notes.reduce((latest, { at }) => Math.max(latest, at), 0),
  };
}

/** Makes the partitions that nonces go into. */
export async function makePartitions(
  statements: Statements,
  buckets: Iterable<number>,
): Promise<void> {
  await statements.all("select pg_advisory_xact_lock($1)", LOCK);
  for (const bucket of new Set(buckets)) {
    await statements.all(
      `create table if not exists svc.nonce_${bucket} partition of svc.nonce
       for values in (${bucket})`,
    );
  }
}

/** Drops what was noted before a time, milliseconds since the epoch. */
export async function dropNotes(statements: Statements, before: number): Promise<void> {
  const ends = Math.min(before, Number.MAX_SAFE_INTEGER);
  await statements.all("delete from svc.answer where ends < $1", ends);
  const partitions = await statements.all<{ readonly name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'svc.nonce'::regclass`,
  );
  const old = partitions.filter(({ name }) => Number(name.split("_")[1]) < bucketOf(ends));
  if (old.length === 0) return;
  await statements.all("select pg_advisory_xact_lock($1)", LOCK);
  for (const { name } of old) await statements.all(`drop table if exists svc.${name}`);
}

/** Notes of a page. */
const PAGE = 1000;

/** Everything that is remembered: answers, then nonces. */
export async function* keptNotes(statements: Statements): AsyncGenerator<Note> {
  const now = Date.now();
  const answers = `select kind, digest, body, answer, ends from svc.answer
    where (kind, digest) > ($1, $2) order by kind, digest limit ${PAGE}`;
  let rows: AnswerRow[] = [];
  let last: Pick<AnswerRow, "kind" | "digest"> = { kind: -1, digest: new Uint8Array() };
  do {
    rows = await statements.all<AnswerRow>(answers, last.kind, last.digest);
    for (const { kind, digest, body, answer, ends } of rows) {
      if (kind === KIND.text) yield { text: digest, answer, at: ends };
      else yield { idempotency: digest, body: body!, answer, at: now, until: ends };
      last = { kind, digest };
    }
  } while (rows.length === PAGE);
  // Each lies in two buckets.
  const nonces = `select digest, min(bucket) as bucket from svc.nonce
    where digest > $1 group by digest order by digest limit ${PAGE}`;
  let seen: { readonly digest: Uint8Array; readonly bucket: number }[] = [];
  let after: Uint8Array = new Uint8Array();
  do {
    seen = await statements.all(nonces, after);
    for (const { digest, bucket } of seen) {
      yield { nonce: digest, at: bucket * BUCKET_SECONDS * 1000 };
      after = digest;
    }
  } while (seen.length === PAGE);
}

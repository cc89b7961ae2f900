import { SvcError } from "../../src/errors.ts";
import type { Statements } from "./statements.ts";

/**
 * What each version of the schema adds; a version is never changed once it was released. Only what
 * needs no rewriting of rows belongs here, because relayers work meanwhile.
 *
 * Names are bytes: a text cannot hold U+0000, and no collation takes part. Sealed bytes do not
 * compress. Rows of a scope are changed by whoever holds its row, so that `scope.revision`, raised by
 * every write, `entry.seq` and `segment.place` rise in the order of the commits. A memory is in the
 * segment named, else sealed in its own row; blob ids recorded later wait in `entry.blob` until their
 * segment is written again.
 */
const MIGRATIONS: readonly string[] = [
  `create table svc.meta(name text primary key, value bytea not null);

  create table svc.blob(
    seq bigint generated always as identity primary key, id text not null unique,
    owner bytea not null, namespace bytea not null, size integer not null,
    created_at bigint not null, bytes bytea not null);
  alter table svc.blob alter column bytes set storage external;
  create index blob_scope on svc.blob(owner, namespace, seq);
  create table svc.put_key(
    owner bytea not null, namespace bytea not null, key bytea not null,
    blob bigint not null references svc.blob(seq) on delete cascade,
    primary key(owner, namespace, key));
  create index put_key_blob on svc.put_key(blob);

  create table svc.model(
    id integer generated always as identity primary key, identity text not null unique);
  create table svc.scope(
    id bigint generated always as identity primary key,
    owner bytea not null, namespace bytea not null, count bigint not null default 0,
    bytes double precision not null default 0, last_write double precision not null default 0,
    revision bigint not null default 0, places bigint not null default 0,
    unique(owner, namespace));
  create sequence svc.entry_seq;
  create table svc.entry(
    id bytea not null, scope bigint not null, seq bigint not null, version bigint not null,
    bytes double precision not null, segment bigint, blob bytea, sealed bytea, model integer,
    primary key(id, scope));
  alter table svc.entry alter column sealed set storage external;
  create index entry_place on svc.entry(scope, segment, seq);
  create index entry_link on svc.entry(segment) where blob is not null;
  create index entry_model on svc.entry(model) where model is not null;
  create table svc.segment(
    id bigint primary key, scope bigint not null, place bigint not null,
    model integer not null, sealed bytea not null);
  create sequence svc.segment_id owned by svc.segment.id;
  alter table svc.segment alter column sealed set storage external;
  create unique index segment_place on svc.segment(scope, place);
  create index segment_model on svc.segment(model);

  create table svc.account(
    seq bigint generated always as identity primary key, id text not null unique,
    owner text not null unique, active boolean not null);
  create table svc.delegate_key(
    seq bigint generated always as identity primary key,
    account bigint not null references svc.account(seq), public_key text not null unique,
    address text not null, label bytea not null, permissions text not null,
    created_at bigint not null, expires_at bigint, namespaces bytea);
  create index delegate_key_account on svc.delegate_key(account, seq);
  create table svc.account_change(
    id integer primary key check (id = 1), revision bigint not null);
  insert into svc.account_change values(1, 0)`,

  /*
   * An opening of the job store is a holder; whoever writes for a job names holder and turn. A nonce
   * lies in the bucket of ten minutes in which it was used and in the next, so that the key of each
   * partition alone tells that it comes again; partitions are dropped as a whole.
   */
  `create table svc.holder(
    id bigint generated always as identity primary key, until timestamptz not null);
  create table svc.job(
    id uuid primary key, owner bytea not null, namespace bytea not null, memory bytea not null,
    accepted_at bigint not null, spec bytea not null, holder bigint not null,
    turn integer not null default 1, progress bytea, payload bytea, payload_stage uuid,
    step bytea, step_stage uuid, ended_at bigint, record bytea,
    held boolean not null default false, expired boolean not null default false);
  alter table svc.job alter column payload set storage external;
  alter table svc.job alter column step set storage external;
  create index job_unfinished on svc.job(holder, accepted_at, id) where ended_at is null;
  create index job_ended on svc.job(ended_at, id) where ended_at is not null and not expired;
  create index job_held on svc.job(owner, namespace, memory) where held;
  create table svc.staged(
    id uuid primary key, at bigint not null, adopted boolean not null default false,
    bytes bytea not null);
  alter table svc.staged alter column bytes set storage external;
  create index staged_orphan on svc.staged(at) where not adopted;
  create table svc.answer(
    kind smallint not null, digest bytea not null, body bytea, answer bytea not null,
    ends bigint not null, primary key(kind, digest));
  create index answer_ends on svc.answer(ends);
  create table svc.nonce(
    bucket integer not null, digest bytea not null, primary key(bucket, digest))
    partition by list (bucket)`,

  `create table svc.data_key(
    key_id text primary key, account text not null, owner bytea not null,
    namespace bytea not null, generation integer not null, wrapped bytea not null,
    created_at bigint not null);
  create index data_key_scope
    on svc.data_key(account, owner, namespace, generation, created_at, key_id);
  create table svc.key_generation(account text primary key, generation integer not null)`,

  /*
   * A relayer works for the owners that it holds; `revision` rises with every writing of an owner's
   * part of the ledger, and whenever somebody takes the owner. The empty name is what belongs to all.
   */
  `create table svc.owner(
    owner bytea primary key, holder bigint not null, wanted boolean not null default false,
    revision bigint not null default 0);
  create index owner_holder on svc.owner(holder, wanted);
  create index job_unfinished_owner on svc.job(owner) where ended_at is null;
  create table svc.ledger(
    owner bytea not null, key bytea not null, value bytea not null, primary key(owner, key));
  alter table svc.ledger alter column value set storage external;
  create table svc.expiry(
    expires_at bigint not null, owner bytea not null, namespace bytea not null, id bytea not null,
    primary key(expires_at, owner, namespace, id))`,

  `create sequence svc.activity_id;
  create table svc.activity(
    id bigint primary key, account text not null, holder text not null, day integer not null,
    entry bytea not null);
  alter table svc.activity alter column entry set storage external;
  create index activity_account on svc.activity(account, id);
  create index activity_holder on svc.activity(holder, id);
  create index activity_day on svc.activity(day);
  create unlogged table svc.spent(
    name bytea primary key, ends double precision not null, steps bigint[] not null,
    weights double precision[] not null)`,

  /*
   * The words of a scope are the rows of its generation; its turn rises with every writing and removal,
   * so that nothing late is written.
   */
  `create table svc.words_turn(
    owner bytea not null, namespace bytea not null, turn bigint not null, generation bytea,
    primary key(owner, namespace));
  create table svc.words(
    owner bytea not null, namespace bytea not null, generation bytea not null,
    part integer not null, bytes bytea not null,
    primary key(owner, namespace, generation, part));
  alter table svc.words alter column bytes set storage external`,
];

/** The version of the schema that this program writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Number of the lock under which the schema is changed: any, as long as it stays the same. */
const LOCK = 7_385_119;

/**
 * Brings the schema `svc` up to date; several programs may try at once.
 *
 * @throws {SvcError} `invalid_parameter` when a later version of the program wrote it.
 */
export async function migrate(statements: Statements): Promise<void> {
  if (await present(statements) === SCHEMA_VERSION) return;
  await statements.all("select pg_advisory_xact_lock($1)", LOCK);
  let version = await present(statements);
  if (version > SCHEMA_VERSION) throw tooNew(version);
  if (version === 0) {
    await statements.all("create schema if not exists svc");
    await statements.all(`create table svc.migration(
      version integer primary key, applied_at timestamptz not null default now())`);
  }
  while (version < SCHEMA_VERSION) {
    await statements.all(MIGRATIONS[version]!);
    await statements.all("insert into svc.migration(version) values($1)", ++version);
  }
}

/** The version of the schema that is there; 0 where there is none. */
async function present(statements: Statements): Promise<number> {
  // Not `to_regclass`: it may answer from before the lock was waited for.
  const table = "select 1 from pg_tables where schemaname = 'svc' and tablename = 'migration'";
  if (await statements.get(table) === undefined) return 0;
  const sql = "select coalesce(max(version), 0) as version from svc.migration";
  return (await statements.get<{ version: number }>(sql))!.version;
}

function tooNew(version: number): SvcError {
  const versions = `schema ${version}, this one reads up to ${SCHEMA_VERSION}`;
  const advice = "start that version, or put back a copy from before the upgrade";
  return new SvcError(
    "invalid_parameter",
    `The database was written by a later version of svc (${versions}): ${advice}`,
  );
}

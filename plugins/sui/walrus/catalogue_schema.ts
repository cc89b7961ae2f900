/**
 * Tables that writing, reading and upkeep of the Walrus store share, in `walrus.db`. Whose blob it
 * is, is part of every key: equal bytes have equal ids, whoever stores them.
 *
 * - `stored`: certified Blob objects, by us or found on chain. `holder` has the object; `state` is
 *   `live`, `replaced` (its patches moved elsewhere) or `gone` (deleted or expired).
 * - `patch`: what a blob holds, and what the store lists: the patches of a quilt, or the blob
 *   itself under its own id. Only patches that are memories; no tombstone patches.
 * - `tombstone`: ids deleted here; `quilt` is the blob id of the quilt that tells others.
 * - `move`: ids that moved; `told` once a listener took note.
 * - `kept`: bytes kept here, until `until` (milliseconds since the epoch).
 */
export const CATALOGUE_SCHEMA = `
create table if not exists stored(
  object_id text primary key, blob_id text not null, owner blob not null, namespace blob not null,
  holder text not null, quilt integer not null, size integer not null, end_epoch integer not null,
  created_at integer not null, state text not null) strict;
create index if not exists stored_scope on stored(owner, namespace, created_at);
create index if not exists stored_blob on stored(blob_id);
create index if not exists stored_end on stored(state, end_epoch);
create table if not exists patch(
  seq integer primary key autoincrement, id text not null, owner blob not null,
  namespace blob not null, blob_id text not null, identifier text not null,
  size integer not null, created_at integer not null,
  unique(owner, namespace, id)) strict;
create index if not exists patch_blob on patch(blob_id);
create table if not exists tombstone(
  seq integer primary key autoincrement, id text not null, owner blob not null,
  namespace blob not null, at integer not null, quilt text,
  unique(owner, namespace, id)) strict;
create index if not exists tombstone_waiting on tombstone(owner, namespace, seq) where quilt is null;
create table if not exists move(
  seq integer primary key autoincrement, owner blob not null, namespace blob not null,
  from_id text not null, to_id text not null, at integer not null,
  told integer not null default 0) strict;
create index if not exists move_untold on move(seq) where told = 0;
create index if not exists move_from on move(owner, namespace, from_id);
create table if not exists kept(
  owner blob not null, namespace blob not null, id text not null, bytes blob not null,
  until integer not null, primary key(owner, namespace, id)) strict;
create index if not exists kept_until on kept(until)`;

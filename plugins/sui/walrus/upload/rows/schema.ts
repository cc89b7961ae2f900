/**
 * Tables of what is on its way to Walrus, in `walrus.db`.
 *
 * - `item`: what `put` was given, by scope and key, kept so that the same key has the same answer.
 *   `upload` is the blob it goes into; `identifier` and `patch` place it there; `id` is its id once
 *   that blob is certified and its owner's; `bytes` are there until then.
 * - `upload`: a blob on its way. `state` is one of {@linkcode UploadState}.
 * - `signed`: transactions, saved before they are executed. `state` is `signed`, `done` (it was
 *   executed, with or without success) or `void` (the chain says that it can never be executed).
 */
export const UPLOAD_SCHEMA = `
create table if not exists item(
  seq integer primary key autoincrement, owner blob not null, namespace blob not null,
  key blob not null, standalone integer not null, size integer not null,
  created_at integer not null, bytes blob, upload integer, identifier text, id text,
  unique(owner, namespace, key)) strict;
create index if not exists item_waiting on item(seq) where upload is null;
create index if not exists item_upload on item(upload);
create index if not exists item_id on item(id);
create index if not exists item_unreleased on item(id) where bytes is not null;
create table if not exists upload(
  seq integer primary key autoincrement, owner blob not null, namespace blob not null,
  quilt integer not null, state text not null, created_at integer not null, tombstones text,
  key blob, blob_id text, root_hash blob, size integer, nonce blob, patches text, wallet text,
  object_id text, end_epoch integer, register integer, certificate blob, finish integer,
  asked_at integer) strict;
create index if not exists upload_open on upload(state) where state <> 'done';
create index if not exists upload_object on upload(object_id);
create unique index if not exists upload_key on upload(owner, namespace, key) where key is not null;
create table if not exists signed(
  seq integer primary key autoincrement, wallet text not null, digest text not null unique,
  bytes blob not null, signature text not null, state text not null) strict;
create index if not exists signed_open on signed(wallet) where state = 'signed'`;

/**
 * How far a blob is: `cut` (its items are chosen), `encoded` (id known), `asked` (a publisher may
 * be storing it), `registering` (transaction signed), `registered` (Blob object known), `uploaded`
 * (certificate known), `finishing` (transaction signed), `done`.
 */
export type UploadState =
  | "cut"
  | "encoded"
  | "asked"
  | "registering"
  | "registered"
  | "uploaded"
  | "finishing"
  | "done";

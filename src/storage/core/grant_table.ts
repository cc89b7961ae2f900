import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const GRANT_SCHEMA = `
  create table if not exists oauth_grant (
    id blob primary key, public_key text not null unique, account_id text not null,
    generation integer not null, secret_hash blob not null, code_hash blob, sealed blob not null,
    expires_at integer not null, previous_hash blob, renewed_at integer
  ) strict, without rowid;
`;

/** What an app was granted by OAuth. Nothing in it opens the app's key: its secret is the app's. */
export interface Grant {
  /** 16 random bytes. */
  readonly id: Uint8Array;
  /** The app's key on the account, 64 lower-case hex characters. */
  readonly publicKey: string;
  readonly accountId: string;
  /** 0 while only its code was handed out; else how many refresh tokens were. */
  readonly generation: number;
  /** SHA-256 of the secret of the code, or of the newest refresh token. */
  readonly secretHash: Uint8Array;
  /** SHA-256 of the secret of a code that was used, to know it when it is shown again. */
  readonly codeHash: Uint8Array | undefined;
  /** The app's private key and what it was granted for, sealed under the secret. */
  readonly sealed: Uint8Array;
  /** When the code or the refresh token ends, milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The refresh token before the newest one; absent while there was none. */
  readonly previous?: PreviousToken | undefined;
}

/** A refresh token that was renewed. */
export interface PreviousToken {
  /** SHA-256 of its secret. */
  readonly secretHash: Uint8Array;
  /** When it was renewed, milliseconds since the epoch. */
  readonly renewedAt: number;
}

interface Row {
  readonly id: Uint8Array;
  readonly public_key: string;
  readonly account_id: string;
  readonly generation: number;
  readonly secret_hash: Uint8Array;
  readonly code_hash: Uint8Array | null;
  readonly sealed: Uint8Array;
  readonly expires_at: number;
  readonly previous_hash: Uint8Array | null;
  readonly renewed_at: number | null;
}

function grantOf(row: Row): Grant {
  return {
    id: row.id,
    publicKey: row.public_key,
    accountId: row.account_id,
    generation: row.generation,
    secretHash: row.secret_hash,
    codeHash: row.code_hash ?? undefined,
    sealed: row.sealed,
    expiresAt: row.expires_at,
    previous: row.previous_hash === null || row.renewed_at === null
      ? undefined
      : { secretHash: row.previous_hash, renewedAt: row.renewed_at },
  };
}

/** The apps that were let in by OAuth, one row a key. Calls are synchronous and durable on return. */
export class GrantTable {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** The grant with an id. */
  get(id: Uint8Array): Grant | undefined {
    const row = this.#file.get<Row>("select * from oauth_grant where id = ?", id);
    return row && grantOf(row);
  }

  /** The grant of a key, 64 lower-case hex characters. */
  ofKey(publicKey: string): Grant | undefined {
    const row = this.#file.get<Row>("select * from oauth_grant where public_key = ?", publicKey);
    return row && grantOf(row);
  }

  /** The grants of an account. */
  ofAccount(accountId: string): Grant[] {
    return this.#file.all<Row>("select * from oauth_grant where account_id = ?", accountId)
      .map(grantOf);
  }

  /** Those that ended before a moment, milliseconds since the epoch. */
  ended(now: number): Grant[] {
    return this.#file.all<Row>("select * from oauth_grant where expires_at <= ?", now).map(grantOf);
  }

  /** Writes a grant, in the place of the one with its id. */
  put(grant: Grant): void {
    const { id, publicKey, accountId, generation, secretHash, codeHash, sealed, expiresAt } = grant;
    const sql = "insert or replace into oauth_grant values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    this.#file.run(
      sql,
      id,
      publicKey,
      accountId,
      generation,
      secretHash,
      codeHash ?? null,
      sealed,
      expiresAt,
      grant.previous?.secretHash ?? null,
      grant.previous?.renewedAt ?? null,
    );
  }

  /** Ends a grant. */
  delete(id: Uint8Array): void {
    this.#file.run("delete from oauth_grant where id = ?", id);
  }
}

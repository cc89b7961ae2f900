/** A key of an account, as the relayer lists it. */
export interface AccountKey {
  /** 64 lower-case hex characters. */
  readonly public_key: string;
  /** Name for people. */
  readonly label: string;
  /** What it may do. */
  readonly permissions: readonly ("read" | "write")[];
  /** RFC 3339. */
  readonly created_at: string;
  /** RFC 3339; absent when it never ends. */
  readonly expires_at?: string;
  /** RFC 3339; absent when it was never used. */
  readonly last_used_at?: string;
}

/** An account, as the owner routes answer it. */
export interface Account {
  /** `0x` and 64 hex characters. */
  readonly account_id: string;
  /** Address of the owner. */
  readonly owner: string;
  /** Whether its keys work. */
  readonly active: boolean;
  /** Its keys. */
  readonly keys: readonly AccountKey[];
}

/** A key to be added. */
export interface NewKey {
  readonly public_key: string;
  readonly label: string;
  readonly permissions: readonly ("read" | "write")[];
  readonly expires_at?: string;
  /** 128 hex characters by which the new key shows that it is held. */
  readonly proof?: string;
}

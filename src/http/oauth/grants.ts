import { Buffer } from "node:buffer";
import { hash, timingSafeEqual } from "node:crypto";
import type { AccountAdmin, Permission } from "../../interfaces/mod.ts";
import type { Sealer } from "../../interfaces/plugin.ts";
import type { Grant, GrantTable } from "../../storage/core/grant_table.ts";
import { COMMON, type LedgerMirror } from "../../storage/ledger_mirror.ts";
import { OAuthError } from "./oauth_error.ts";

/** What an app was let in with, which only its code or its refresh token opens. */
export interface GrantedKey {
  /** Seed of the app's key, 64 hex characters. */
  readonly seed: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** PKCE's, in base64url. */
  readonly challenge: string;
  /** What the app asked to be allowed; the key may be allowed less. */
  readonly scope: readonly Permission[];
}

/** Whose key an app is let in with. */
export interface KeyOfAccount {
  /** 64 lower-case hex characters. */
  readonly publicKey: string;
  readonly accountId: string;
  /** When the key ends, milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** What a grant stands on. */
export interface GrantParts {
  readonly table: GrantTable;
  /** What keeps the table in step with other relayers. */
  readonly mirror?: Pick<LedgerMirror, "refresh" | "flush"> | undefined;
  /** Seals under the relayer key and what is named. */
  readonly sealer: (purpose: string) => Sealer;
  /** Marks refresh tokens as made here, and makes the next secret of the last; 32 bytes. */
  readonly mac: (data: Uint8Array) => Uint8Array;
  /** Takes the key of a grant that ends off its account, where the relayer keeps the accounts. */
  readonly admin: Pick<AccountAdmin, "removeKey"> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How long a code is good, in milliseconds. */
const CODE_MS = 60_000;
/** How long an app may stay away, in milliseconds: 90 days. */
const REFRESH_MS = 7_776_000_000;
/** How long a refresh token that was renewed may be shown again, in milliseconds. */
const RETRY_MS = 30_000;
/** Tells what the next secret is made of from what marks tokens. */
const NEXT_SECRET = new TextEncoder().encode("next refresh token\0");
const ID_BYTES = 16;
const SECRET_BYTES = 32;
const MAC_BYTES = 16;
/** Codes and refresh tokens are told apart from everything else by how they begin. */
const CODE = /^svcc1\.([\w-]{64})$/;
const REFRESH = /^svcr1\.([\w-]{91})$/;

const sha256 = (bytes: Uint8Array) => Uint8Array.fromHex(hash("sha256", bytes, "hex"));
const isSame = (a: Uint8Array, b: Uint8Array) => a.length === b.length && timingSafeEqual(a, b);

function bytesIn(form: RegExp, text: string): Uint8Array | undefined {
  const encoded = form.exec(text)?.[1];
  if (encoded === undefined) return undefined;
  return Uint8Array.fromBase64(encoded, { alphabet: "base64url" });
}

/** A code or refresh token taken apart. */
interface Shown {
  readonly id: Uint8Array;
  readonly generation: number;
  readonly secret: Uint8Array;
}

const gone = () => new OAuthError("invalid_grant", "It is not known here, or has ended");

/** Told of a grant that ends because two have its secret. */
export type OnReuse = (grant: KeyOfAccount) => void;

/** A grant whose secret was shown. */
export interface OpenGrant extends KeyOfAccount {
  readonly granted: GrantedKey;
}

/**
 * The apps that owners let in. The private key of an app is never usable here: it is sealed under the
 * relayer key and a secret that only the app has, first the code, then each refresh token.
 */
export class Grants {
  readonly #parts: GrantParts;

  constructor(parts: GrantParts) {
    this.#parts = parts;
  }

  /**
   * To be called before anything is asked: what another relayer did is known then.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async fresh(): Promise<void> {
    await this.#parts.mirror?.refresh();
  }

  /**
   * To be called before anybody is told of a change.
   *
   * @throws {SvcError} `storage_unavailable`: it did not happen.
   */
  async kept(): Promise<void> {
    await this.#parts.mirror?.flush(COMMON);
  }

  /** Whether an app with a key is let in: it has shown its code, and nothing ended it. */
  isOpen(publicKey: string): boolean {
    const grant = this.#parts.table.ofKey(publicKey);
    return grant !== undefined && grant.generation > 0 && grant.expiresAt > this.#parts.now();
  }

  /** Whether a key belongs to an app already. */
  has(publicKey: string): boolean {
    return this.#parts.table.ofKey(publicKey) !== undefined;
  }

  /**
   * Lets an app in.
   *
   * @param listed Keys that the account has: what there is for others of it ends.
   * @returns the code, good once and for a minute.
   */
  issueCode(key: KeyOfAccount, granted: GrantedKey, listed: ReadonlySet<string>): string {
    const { table, now } = this.#parts;
    for (const { id, publicKey } of table.ofAccount(key.accountId)) {
      if (!listed.has(publicKey)) table.delete(id);
    }
    const id = crypto.getRandomValues(new Uint8Array(ID_BYTES));
    const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
    const grant = { ...key, id, generation: 0, codeHash: undefined };
    table.put(this.#sealed(grant, secret, granted, Math.min(now() + CODE_MS, endOf(key))));
    return "svcc1." + Buffer.concat([id, secret]).toString("base64url");
  }

  /**
   * What a code was made for.
   *
   * @param onReuse Told of the grant that ends because the code was used before.
   * @throws {OAuthError} `invalid_grant`; a code that was used before ends the grant.
   */
  openCode(code: string, onReuse: OnReuse): OpenGrant & { readonly renew: () => string } {
    const bytes = bytesIn(CODE, code);
    if (bytes === undefined) throw gone();
    const shown = {
      id: bytes.subarray(0, ID_BYTES),
      generation: 0,
      secret: bytes.subarray(ID_BYTES),
    };
    const grant = this.#parts.table.get(shown.id);
    if (grant === undefined) throw gone();
    const wasUsed = grant.codeHash !== undefined && isSame(grant.codeHash, sha256(shown.secret));
    if (wasUsed) this.#endReused(grant, onReuse);
    return this.#open(grant, shown);
  }

  /**
   * What a refresh token stands for.
   *
   * @param onReuse Told of the grant that ends because an older token was shown.
   * @throws {OAuthError} `invalid_grant`; one that was used before ends the grant: two have it. The
   * last one is as good as the newest for 30 s, since an answer may be lost on its way.
   */
  openRefreshToken(token: string, onReuse: OnReuse): OpenGrant & { readonly renew: () => string } {
    const shown = this.#readRefreshToken(token);
    const grant = shown && this.#parts.table.get(shown.id);
    if (shown === undefined || grant === undefined) throw gone();
    if (this.#isRetry(grant, shown)) {
      const secret = this.#secretAfter(shown);
      const { publicKey, accountId, granted } = this.#open(grant, { ...grant, secret });
      return { publicKey, accountId, granted, renew: () => this.#refreshToken(grant, secret) };
    }
    if (shown.generation < grant.generation) this.#endReused(grant, onReuse);
    return this.#open(grant, shown);
  }

  /** Ends what a refresh token stands for, whichever it is. */
  revoke(token: string): void {
    const shown = this.#readRefreshToken(token);
    const grant = shown && this.#parts.table.get(shown.id);
    if (grant !== undefined) this.end(grant);
  }

  /** Ends the grant of a key. */
  endOf(publicKey: string): void {
    const grant = this.#parts.table.ofKey(publicKey);
    if (grant !== undefined) this.end(grant);
  }

  /** Ends a grant: nothing that was made of it counts, and its key leaves the account. */
  end({ id, accountId, publicKey }: Grant): void {
    const { table, admin } = this.#parts;
    table.delete(id);
    // Its owner may have removed it. Where others keep the accounts its owner has to.
    admin?.removeKey(accountId, publicKey).catch(() => {});
  }

  #endReused(grant: Grant, onReuse: OnReuse): void {
    this.end(grant);
    onReuse(grant);
  }

  /** Ends what nobody used in time. */
  async sweep(): Promise<void> {
    const { table, now } = this.#parts;
    await this.fresh();
    for (const grant of table.ended(now())) this.end(grant);
    await this.kept();
  }

  #open(grant: Grant, { secret, generation }: Shown): OpenGrant & { readonly renew: () => string } {
    const isNow = grant.generation === generation && isSame(grant.secretHash, sha256(secret));
    if (!isNow || grant.expiresAt <= this.#parts.now()) throw gone();
    // Ended a moment ago by this very call, or by a sweep.
    if (this.#parts.table.get(grant.id) === undefined) throw gone();
    const opened = this.#sealerOf(secret).open(grant.sealed, boundTo(grant));
    const granted: GrantedKey = JSON.parse(new TextDecoder().decode(opened));
    const { publicKey, accountId } = grant;
    const renew = () => this.#renew(grant, { id: grant.id, secret, generation }, granted);
    return { publicKey, accountId, granted, renew };
  }

  /** Puts the next refresh token in the place of what was shown. */
  #renew(grant: Grant, shown: Shown, granted: GrantedKey): string {
    const { table, now } = this.#parts;
    const isCode = shown.generation === 0;
    // A code is good once: what it is renewed to need not be made of it.
    const secret = isCode
      ? crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
      : this.#secretAfter(shown);
    const next = {
      ...grant,
      generation: grant.generation + 1,
      codeHash: grant.codeHash ?? grant.secretHash,
    };
    const previous = isCode ? undefined : { secretHash: grant.secretHash, renewedAt: now() };
    table.put({ ...this.#sealed(next, secret, granted, now() + REFRESH_MS), previous });
    return this.#refreshToken(next, secret);
  }

  /** Whether an app shows its last token again a moment after it was renewed. */
  #isRetry({ generation, previous }: Grant, shown: Shown): boolean {
    if (previous === undefined || shown.generation !== generation - 1) return false;
    const age = this.#parts.now() - previous.renewedAt;
    return age >= 0 && age < RETRY_MS && isSame(previous.secretHash, sha256(shown.secret));
  }

  /** The secret of the token that follows: the same each time, to whoever has the last one. */
  #secretAfter({ id, generation, secret }: Shown): Uint8Array {
    return this.#parts.mac(Buffer.concat([NEXT_SECRET, headOf(id, generation + 1), secret]));
  }

  #refreshToken({ id, generation }: Pick<Grant, "id" | "generation">, secret: Uint8Array): string {
    const body = Buffer.concat([headOf(id, generation), secret]);
    const mark = this.#parts.mac(body).subarray(0, MAC_BYTES);
    return "svcr1." + Buffer.concat([body, mark]).toString("base64url");
  }

  /** Takes a refresh token apart that was made here; whether it still counts is not said. */
  #readRefreshToken(token: string): Shown | undefined {
    const bytes = bytesIn(REFRESH, token);
    if (bytes === undefined) return undefined;
    const body = bytes.subarray(0, -MAC_BYTES);
    const made = this.#parts.mac(body).subarray(0, MAC_BYTES);
    if (!isSame(made, bytes.subarray(-MAC_BYTES))) return undefined;
    return {
      id: body.subarray(0, ID_BYTES),
      generation: new DataView(body.buffer, body.byteOffset).getUint32(ID_BYTES),
      secret: body.subarray(ID_BYTES + 4),
    };
  }

  #sealed(
    grant: Pick<Grant, "id" | "publicKey" | "accountId" | "generation" | "codeHash">,
    secret: Uint8Array,
    granted: GrantedKey,
    expiresAt: number,
  ): Grant {
    const { id, publicKey, accountId, generation, codeHash } = grant;
    const bytes = new TextEncoder().encode(JSON.stringify(granted));
    const sealed = this.#sealerOf(secret).seal(bytes, boundTo(grant));
    const secretHash = sha256(secret);
    return { id, publicKey, accountId, generation, codeHash, secretHash, sealed, expiresAt };
  }

  /** HKDF of the relayer key with the app's secret as what tells it from others: it takes both. */
  #sealerOf(secret: Uint8Array): Sealer {
    return this.#parts.sealer(`oauth grant ${secret.toHex()}`);
  }
}

function headOf(id: Uint8Array, generation: number): Uint8Array {
  const head = new Uint8Array(ID_BYTES + 4);
  head.set(id);
  new DataView(head.buffer).setUint32(ID_BYTES, generation);
  return head;
}

const boundTo = ({ id, generation }: Pick<Grant, "id" | "generation">) =>
  `${id.toHex()} ${generation}`;

const endOf = ({ expiresAt = Infinity }: KeyOfAccount) => expiresAt;

import { SvcError } from "../../errors.ts";
import type { AcceptedJob, Cipher, SealContext, SealedItem } from "../../interfaces/mod.ts";
import type { Sealer } from "../../interfaces/plugin.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import type { Caller } from "../caller.ts";
import { decodeBlob, encodeBlob } from "../record.ts";

/** How long one key seals what waits in a namespace, milliseconds: each costs a call of the cipher. */
const KEY_MS = 5 * 60_000;
const KEY_BYTES = 32;

/** What a payload is sealed under. */
export interface PayloadKey {
  /** The key, sealed by the cipher, in base64: what the job keeps of it. */
  readonly sealed: string;
  readonly sealer: Sealer;
}

/** What opens as a key; `undefined` when it is damaged. */
function itemOf(payloadKey: string): SealedItem | undefined {
  try {
    return decodeBlob(Uint8Array.fromBase64(payloadKey));
  } catch {
    return undefined;
  }
}

/** The account and the scope that a key belongs to. */
type KeyContext = Omit<SealContext, "memoryId">;

interface PayloadKeysOptions {
  readonly cipher: Pick<Cipher, "needsCredential" | "seal" | "open">;
  /** Encryption under 32 bytes. */
  readonly sealerOf: (key: Uint8Array) => Sealer;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Keys of what waits for its job, where the relayer key shall not open it: where opening a memory takes
 * a credential. A key is in RAM as long as its jobs are unfinished. What a process of before left, or
 * another relayer, is locked until somebody who may read it comes with a credential.
 */
export class PayloadKeys {
  readonly #options: PayloadKeysOptions;
  /** By sealed key; with when it was opened or sealed with last, at least. */
  readonly #open = new Map<string, { readonly sealer: Sealer; readonly at: number }>();
  /** Keys to seal with, by account and scope; with since when. */
  readonly #current = new Map<string, { readonly key: Promise<PayloadKey>; readonly at: number }>();

  constructor(options: PayloadKeysOptions) {
    this.#options = options;
  }

  /**
   * The key that a payload of a scope is to be sealed under; `undefined` where the relayer key opens
   * all memories, so that it may be used itself. One that cannot be replaced in time serves on.
   *
   * @throws {SvcError} what the cipher throws where there is none yet.
   */
  async current(context: KeyContext): Promise<PayloadKey | undefined> {
    const { cipher, now } = this.#options;
    if (!cipher.needsCredential) return undefined;
    const place = `${context.accountId} ${scopeKey(context)}`;
    const known = this.#current.get(place);
    const age = known === undefined ? Infinity : now() - known.at;
    if (known !== undefined && age >= 0 && age < KEY_MS) return await known.key;
    const key = this.#make(context)
      .catch((error) => known?.key ?? Promise.reject(error))
      .then((key) => this.#keep(key));
    const made = { key, at: now() };
    this.#current.set(place, made);
    key.catch(() => {
      if (this.#current.get(place) === made) this.#current.delete(place);
    });
    return await key;
  }

  /** Whether a job's payload can be opened without a credential. */
  isOpen({ payloadKey }: Pick<AcceptedJob, "payloadKey">): boolean {
    return payloadKey === undefined || this.#open.has(payloadKey);
  }

  /** Opens what was sealed under a key. @throws {SvcError} `decrypt_credential_required`. */
  sealer(payloadKey: string): Sealer {
    const key = this.#open.get(payloadKey);
    if (key === undefined) throw new SvcError("decrypt_credential_required");
    return key.sealer;
  }

  /**
   * Opens keys of a scope with the caller's credential.
   *
   * @throws {SvcError} what the cipher is refused with; why one of them cannot be opened.
   */
  async open(sealed: Iterable<string>, caller: Caller, context: KeyContext): Promise<void> {
    const { cipher, sealerOf } = this.#options;
    const { credential, signal } = caller;
    if (credential === undefined) return;
    const locked = [...new Set(sealed)].flatMap((payloadKey) => {
      const item = this.#open.has(payloadKey) ? undefined : itemOf(payloadKey);
      return item === undefined ? [] : [{ payloadKey, item }];
    });
    const items = locked.map(({ item }) => item);
    const opened = await cipher.open(items, { ...context, credential, signal });
    for (const [i, { payloadKey }] of locked.entries()) {
      const result = opened[i];
      if (result?.status !== "fulfilled") continue;
      this.#keep({ sealed: payloadKey, sealer: sealerOf(result.value) });
      result.value.fill(0);
    }
    const failed = opened.find((result) => result.status === "rejected");
    if (failed !== undefined) throw SvcError.from(failed.reason);
  }

  /** Seals under other keys from now on: the account's keys, owner or state changed. */
  accountChanged(accountId?: string): void {
    for (const place of this.#current.keys()) {
      if (accountId === undefined || place.startsWith(`${accountId} `)) this.#current.delete(place);
    }
  }

  /** Forgets keys that no unfinished job uses, nor one that is about to be accepted. */
  forget(used: ReadonlySet<string>): void {
    const before = this.#options.now() - 2 * KEY_MS;
    for (const [place, { at }] of this.#current) if (at < before) this.#current.delete(place);
    for (const [sealed, { at }] of this.#open) {
      if (at < before && !used.has(sealed)) this.#open.delete(sealed);
    }
  }

  #keep(key: PayloadKey): PayloadKey {
    this.#open.set(key.sealed, { sealer: key.sealer, at: this.#options.now() });
    return key;
  }

  async #make(context: KeyContext): Promise<PayloadKey> {
    const { cipher, sealerOf } = this.#options;
    const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    const sealer = sealerOf(bytes);
    const memoryId = crypto.randomUUID();
    try {
      const { record, wrappedKey } = await cipher.seal(bytes, { ...context, memoryId });
      const sealed = encodeBlob({ memoryId, record, wrappedKey }).toBase64();
      return { sealed, sealer };
    } finally {
      bytes.fill(0);
    }
  }
}

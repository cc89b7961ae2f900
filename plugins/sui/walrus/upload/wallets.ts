import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { SvcError } from "../../../../src/errors.ts";

/** A wallet taken out of the pool; nobody else signs with it until the lease is disposed of. */
export interface Lease extends Disposable {
  readonly address: string;
  /** Signs the BCS of a transaction; answers the serialized signature, base64. */
  sign(bytes: Uint8Array): Promise<string>;
}

/**
 * Private keys of a comma-separated list: `suiprivkey…` (Ed25519) or 64 hex characters.
 *
 * @throws {SvcError} `invalid_parameter`, which does not quote the keys.
 */
export function parseWallets(list: string): Ed25519Keypair[] {
  const keys = list.split(",").map((key) => key.trim()).filter((key) => key !== "");
  const pairs = keys.map((key, index) => {
    try {
      return keypairOf(key);
    } catch {
      const name = `walrus: SVC_SUI_PRIVATE_KEYS: key ${index + 1}`;
      const text = `${name} is no Ed25519 suiprivkey or 64 hex characters`;
      throw new SvcError("invalid_parameter", text);
    }
  });
  const unique = new Map(pairs.map((pair) => [pair.toSuiAddress(), pair]));
  if (unique.size === 0) {
    throw new SvcError("invalid_parameter", "walrus: SVC_SUI_PRIVATE_KEYS names no wallet");
  }
  return [...unique.values()];
}

function keypairOf(key: string): Ed25519Keypair {
  const hex = key.replace(/^0x/, "");
  const isHex = /^[0-9a-fA-F]{64}$/.test(hex);
  return Ed25519Keypair.fromSecretKey(isHex ? Uint8Array.fromHex(hex) : key);
}

/** Wallets that pay, one transaction in flight each. */
export class Wallets {
  readonly #pairs: ReadonlyMap<string, Ed25519Keypair>;
  readonly #taken = new Set<string>();
  readonly #poorUntil = new Map<string, number>();
  #next = 0;

  /** @param pairs At least one. */
  constructor(pairs: readonly Ed25519Keypair[]) {
    this.#pairs = new Map(pairs.map((pair) => [pair.toSuiAddress(), pair]));
  }

  /** Addresses, in the order of the configuration. */
  get addresses(): string[] {
    return [...this.#pairs.keys()];
  }

  has(address: string): boolean {
    return this.#pairs.has(address);
  }

  /** Whether the address is one of ours and nobody has taken the wallet. */
  isFree(address: string): boolean {
    return this.#pairs.has(address) && !this.#taken.has(address);
  }

  /** Takes a wallet; `undefined` while it is taken. */
  take(address: string): Lease | undefined {
    const pair = this.#pairs.get(address);
    if (pair === undefined || this.#taken.has(address)) return undefined;
    this.#taken.add(address);
    return {
      address,
      sign: async (bytes) => (await pair.signTransaction(bytes)).signature,
      [Symbol.dispose]: () => void this.#taken.delete(address),
    };
  }

  /** Takes the next wallet in turn that is free, not in `except` and not known to be empty. */
  takeAny(now: number, except: ReadonlySet<string>): Lease | undefined {
    const all = this.addresses;
    for (let tried = 0; tried < all.length; tried++) {
      const address = all[this.#next++ % all.length]!;
      if (except.has(address) || (this.#poorUntil.get(address) ?? 0) > now) continue;
      const lease = this.take(address);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** Notes that a wallet cannot pay; it is not chosen before `until`. */
  setPoor(address: string, until: number): void {
    this.#poorUntil.set(address, until);
  }

  setPaid(address: string): void {
    this.#poorUntil.delete(address);
  }

  /** How many wallets cannot pay. */
  poor(now: number): number {
    return [...this.#poorUntil.values()].filter((until) => until > now).length;
  }
}

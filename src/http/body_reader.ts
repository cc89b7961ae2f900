import { BoundedMap } from "../bounded_map.ts";
import { SvcError } from "../errors.ts";
import { readBody } from "../wire/body/read_body.ts";
import { limitKey } from "../wire/ip_addresses.ts";
import { SIGNED_BODY_BYTES } from "../wire/limits.ts";

/** Bodies up to this size may use parts of the budget that larger ones have to leave: 64 KiB. */
const SMALL_BODY_BYTES = 65_536;
/** How long an address counts as known after a signature from it was verified, milliseconds. */
const KNOWN_MS = 600_000;
const MOST_KNOWN = 10_000;

/**
 * Reads bodies within a size limit, a deadline, and a bound on all unverified bytes in memory. Of
 * that budget one address holds at most a quarter with large bodies; strangers, from whose addresses
 * nobody known signs, hold half of it together with large bodies and three quarters with small ones;
 * the last eighth is for small bodies of known addresses. So neither one address nor many strangers
 * can keep others from being read.
 */
export class BodyReader {
  readonly #budget: number;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #held = 0;
  /** Bytes by address; of those that hold some. */
  readonly #shares = new Map<string, number>();
  /** When a signature from an address was verified last. */
  readonly #known = new BoundedMap<string, number>(MOST_KNOWN);

  /** Holds at most `budget` bytes at a time; a body may take `timeoutMs`. */
  constructor(budget: number, timeoutMs: number, now: () => number = Date.now) {
    this.#budget = budget;
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  /** To be called when a signature was verified: its address is no stranger's for ten minutes. */
  know(clientIp: string): void {
    this.#known.set(limitKey(clientIp), this.#now());
  }

  /** Whether a network, as `limitKey` names it, is no stranger's. */
  isKnown(network: string): boolean {
    return this.#now() - (this.#known.get(network) ?? -Infinity) < KNOWN_MS;
  }

  /**
   * Reads a whole body.
   *
   * @param limit bytes.
   * @throws {SvcError} `body_too_large`, `request_timeout`, `overloaded`.
   */
  async read(
    request: Request,
    limit: number,
    clientIp: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (request.body === null) return new Uint8Array();
    const address = limitKey(clientIp);
    let own = 0;
    // What has come is counted, not what is announced: announcing costs a stranger nothing.
    const onPart = (bytes: number) => {
      this.#hold(address, bytes, own + bytes <= SMALL_BODY_BYTES);
      own += bytes;
    };
    try {
      return await readBody(request, { limit, timeoutMs: this.#timeoutMs, onPart });
    } finally {
      if (own > 0) this.#release(address, own);
    }
  }

  #hold(address: string, bytes: number, isSmall: boolean): void {
    const share = (this.#shares.get(address) ?? 0) + bytes;
    const held = this.#held + bytes;
    const budget = this.#budget;
    const isKnown = this.isKnown(address);
    // One body of the largest size always finds room where nobody else has one.
    const least = Math.min(SIGNED_BODY_BYTES, budget);
    const eighths = isSmall ? (isKnown ? 8 : 6) : (isKnown ? 7 : 4);
    const most = Math.max(isSmall ? SMALL_BODY_BYTES : least, budget * eighths / 8);
    const isOverShare = !isSmall && share > Math.max(least, budget / 4);
    if (held > most || isOverShare) throw new SvcError("overloaded");
    this.#held = held;
    this.#shares.set(address, share);
  }

  #release(address: string, bytes: number): void {
    this.#held -= bytes;
    const left = this.#shares.get(address)! - bytes;
    if (left === 0) this.#shares.delete(address);
    else this.#shares.set(address, left);
  }
}

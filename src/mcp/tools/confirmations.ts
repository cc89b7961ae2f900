import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";

/** How long a confirmation counts, milliseconds. */
const VALID_MS = 120_000;
const MAC_BYTES = 16;

/**
 * Confirmations of what a tool would do: each is worth something for exactly that, by the same key,
 * within two minutes, and in this process. No text that a memory holds can be one.
 */
export class Confirmations {
  readonly #key = randomBytes(32);
  readonly #now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A confirmation of an act, which is named by its parts. */
  issue(act: readonly unknown[]): string {
    const expires = this.#now() + VALID_MS;
    return `${expires.toString(36)}.${this.#mac(expires, act).toString("base64url")}`;
  }

  /** Whether a text confirms an act. */
  confirms(text: string, act: readonly unknown[]): boolean {
    const [time = "", mac = ""] = text.split(".");
    const expires = parseInt(time, 36);
    if (!(expires > this.#now()) || expires > this.#now() + VALID_MS) return false;
    const given = Buffer.from(mac, "base64url");
    return given.length === MAC_BYTES && timingSafeEqual(given, this.#mac(expires, act));
  }

  #mac(expires: number, act: readonly unknown[]): Buffer {
    const text = JSON.stringify([expires, ...act]);
    return createHmac("sha256", this.#key).update(text).digest().subarray(0, MAC_BYTES);
  }
}

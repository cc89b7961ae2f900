import { bcs } from "@mysten/sui/bcs";
import { SvcError } from "../../src/errors.ts";
import { transactionDigest } from "../../src/sponsor/answered_transaction.ts";
import type { ExecutedTransaction, Sponsor } from "../../src/interfaces/mod.ts";

const DIGEST = "11111111111111111111111111111111";

/** BCS of gas data and an expiration, as they stand behind kind and sender. */
export function gasBytes(budget: number, coin: number): Uint8Array {
  const data = bcs.GasData.serialize({
    payment: [{ objectId: `0x${coin.toString(16)}`, version: "1", digest: DIGEST }],
    owner: "0x9a5",
    price: "1000",
    budget: String(budget),
  }).toBytes();
  return Uint8Array.of(...data, 0);
}

/** A sponsor that pays with a new coin each time and can be told how to fail. */
export class FakeSponsor implements Sponsor {
  /** Gas budget of the next transactions, MIST. */
  budget = 4_000_000;
  /** What an execution costs, MIST; `undefined` = the sponsor does not know. */
  cost: number | undefined = 3_000_000;
  /** Changes the next answers. */
  change: (bytes: Uint8Array, digest: string) => { bytes: Uint8Array; digest: string } = (
    bytes,
    digest,
  ) => ({ bytes, digest });
  /** What the next calls fail with, before or after their effect. */
  fail: { call: "sponsor" | "execute"; error: Error; executed?: boolean } | undefined;
  /** Waited for by executions. */
  gate: Promise<void> = Promise.resolve();
  /** Waited for by sponsorings. */
  sponsorGate: Promise<void> = Promise.resolve();
  /** Calls so far. */
  readonly calls = { sponsor: 0, execute: 0 };
  /** Digests that were executed, once for each payment. */
  readonly paid: string[] = [];
  readonly #made = new Set<string>();

  async sponsor({ sender, kindBytes }: { sender: string; kindBytes: Uint8Array }) {
    const coin = ++this.calls.sponsor;
    await this.sponsorGate;
    if (this.fail?.call === "sponsor") throw this.fail.error;
    const gas = gasBytes(this.budget, coin);
    const bytes = Uint8Array.of(0, ...kindBytes, ...Uint8Array.fromHex(sender.slice(2)), ...gas);
    const digest = transactionDigest(bytes);
    this.#made.add(digest);
    return this.change(bytes, digest);
  }

  /** The first signature byte 0xff is a wrong one. */
  async execute(
    { digest, signature }: { digest: string; signature: Uint8Array },
  ): Promise<ExecutedTransaction> {
    this.calls.execute++;
    await this.gate;
    if (!this.#made.has(digest)) throw new SvcError("sponsorship_not_found");
    if (signature[0] === 0xff) throw new SvcError("invalid_sponsor_signature");
    const failing = this.fail?.call === "execute" ? this.fail : undefined;
    if (failing !== undefined && !failing.executed) throw failing.error;
    if (!this.paid.includes(digest)) this.paid.push(digest);
    if (failing !== undefined) throw failing.error;
    return { digest, ...(this.cost === undefined ? {} : { gasMist: this.cost }) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

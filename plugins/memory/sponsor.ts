import type { Sponsor, SponsoredTransaction, SponsorRequest } from "../../src/interfaces/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { Gate } from "./gate.ts";

/** The functions a {@linkcode memorySponsor} works through. */
export interface Sponsorship {
  /** Adds gas to a transaction kind. */
  pay(request: SponsorRequest): SponsoredTransaction | Promise<SponsoredTransaction>;
  /** Takes the signed transaction; resolves once it is executed. */
  submit(bytes: Uint8Array, signature: Uint8Array): void | Promise<void>;
}

/** A sponsor that pays and submits with the caller's functions and remembers what it sponsored. */
export function memorySponsor({ pay, submit }: Sponsorship): Sponsor {
  const gate = new Gate("sponsor_upstream_error");
  const sponsored = new Map<string, Uint8Array>();
  return {
    async sponsor(request, options) {
      await gate.pass(options?.signal);
      const { bytes, digest } = await pay(request);
      options?.signal?.throwIfAborted();
      sponsored.set(digest, bytes.slice());
      return { bytes, digest };
    },
    async execute({ digest, signature }, options) {
      await gate.pass(options?.signal);
      const bytes = sponsored.get(digest);
      if (bytes === undefined) throw new SvcError("sponsorship_not_found");
      await submit(bytes.slice(), signature);
      return { digest };
    },
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}

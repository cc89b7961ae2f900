import { match, notDeepStrictEqual, ok, rejects } from "node:assert/strict";
import { SvcError } from "../src/errors.ts";
import type { Sponsor } from "../src/interfaces/mod.ts";
import { abortLaw, law, objectId } from "./law.ts";
import type { Suite } from "./suite.ts";

/** BCS of a `TransactionKind`: a programmable transaction (0) without inputs and commands. */
const EMPTY_KIND = Uint8Array.of(0, 0, 0);
const SENDER = objectId("a");
/** 32 zero bytes in base58: the digest of no transaction. */
const NO_DIGEST = "1".repeat(32);
const SIGNATURE = new Uint8Array(97);

/**
 * What every {@linkcode Sponsor} promises. It needs no key: what executes is left to the tests of
 * the sponsor.
 */
export const sponsorSuite: Suite<Sponsor> = {
  name: "Sponsor",
  cases: [
    law("answers the sender's transaction with a base58 digest", async (sponsor) => {
      const { bytes, digest } = await sponsor.sponsor({ sender: SENDER, kindBytes: EMPTY_KIND });
      match(digest, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
      // BCS of `TransactionData`: version 1 (0), the kind, the sender, then the gas.
      const head = `00${EMPTY_KIND.toHex()}${SENDER.slice(2)}`;
      ok(bytes.toHex().startsWith(head), "the kind or the sender was changed");
      ok(bytes.length > head.length / 2, "there is no gas");
    }),
    law("answers different transactions for different senders", async (sponsor) => {
      const first = await sponsor.sponsor({ sender: SENDER, kindBytes: EMPTY_KIND });
      const second = await sponsor.sponsor({ sender: objectId("b"), kindBytes: EMPTY_KIND });
      notDeepStrictEqual(first.digest, second.digest);
    }),
    law("refuses to execute what it did not sponsor", async (sponsor) => {
      await rejects(
        sponsor.execute({ digest: NO_DIGEST, signature: SIGNATURE }),
        (error) => error instanceof SvcError && error.code !== "internal_error",
      );
    }),
    abortLaw<Sponsor>((sponsor, signal) => ({
      sponsor: () => sponsor.sponsor({ sender: SENDER, kindBytes: EMPTY_KIND }, { signal }),
      execute: () => sponsor.execute({ digest: NO_DIGEST, signature: SIGNATURE }, { signal }),
    })),
  ],
};

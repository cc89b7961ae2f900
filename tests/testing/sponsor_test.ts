import { blake2b } from "@noble/hashes/blake2.js";
import { memorySponsor } from "../../plugins/memory/mod.ts";
import type { SponsoredTransaction, SponsorRequest } from "../../src/interfaces/mod.ts";
import { conform, sponsorSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function base58(bytes: Uint8Array): string {
  let rest = BigInt(`0x${bytes.toHex()}`);
  let text = "";
  for (; rest > 0n; rest /= 58n) text = BASE58[Number(rest % 58n)] + text;
  return text;
}

/** BCS of `TransactionData` up to the sender, and one byte that stands for the gas. */
function pay({ sender, kindBytes }: SponsorRequest): SponsoredTransaction {
  const bytes = Uint8Array.of(0, ...kindBytes, ...Uint8Array.fromHex(sender.slice(2)), 1);
  return { bytes, digest: base58(blake2b(bytes, { dkLen: 32 })) };
}

const make = () => memorySponsor({ pay, submit: () => undefined });

conform(sponsorSuite, "memory", make);

mutants(sponsorSuite, make, [
  {
    name: "sponsors another transaction",
    fails: ["answers the sender's transaction with a base58 digest"],
    change: (sponsor) => ({
      sponsor: (request, options) =>
        sponsor.sponsor({ ...request, kindBytes: Uint8Array.of(0, 1, 0) }, options),
    }),
  },
  {
    name: "sponsors another sender",
    fails: ["answers different transactions for different senders"],
    change: (sponsor) => ({
      sponsor: (request, options) =>
        sponsor.sponsor({ ...request, sender: `0x${"0".repeat(64)}` }, options),
    }),
  },
  {
    name: "executes anything",
    fails: ["refuses to execute what it did not sponsor"],
    change: () => ({ execute: ({ digest }) => Promise.resolve({ digest }) }),
  },
  {
    name: "ignores the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (sponsor) => ({ sponsor: (request) => sponsor.sponsor(request) }),
  },
]);

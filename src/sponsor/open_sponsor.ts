import type { AddressLimiter } from "../http/limits/address_limits.ts";
import type { OpenHandlers } from "../http/route.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { Sponsor } from "../interfaces/mod.ts";
import type { LedgerSharing, SponsorLedger } from "./ledger.ts";
import { SponsorRequests } from "./sponsor_requests.ts";

/** What sponsored transactions are decided with. */
interface Surroundings {
  readonly config: RelayerConfig;
  readonly core: { readonly sponsorships: SponsorLedger };
  readonly sharing: LedgerSharing;
  readonly limiter: AddressLimiter;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What answers where transactions are paid for; `undefined` where nobody pays. */
export function sponsorHandlers(
  sponsor: Sponsor | undefined,
  { config, core: { sponsorships: ledger }, ...rest }: Surroundings,
): OpenHandlers<"sponsor"> | undefined {
  if (sponsor === undefined) return undefined;
  const { packageId = "", sponsor: limits } = config;
  const { limiter, sharing, now } = rest;
  const decided = { sponsor, config: limits, packageId, ledger, limiter, sharing, now };
  return new SponsorRequests(decided).handlers;
}

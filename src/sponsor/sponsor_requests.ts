import type { SponsorConfig } from "../interfaces/config.ts";
import { SvcError } from "../errors.ts";
import type { Sponsor } from "../interfaces/mod.ts";
import { SPONSORSHIP_MS } from "../wire/limits.ts";
import { parseBody } from "../wire/request_members.ts";
import { SPONSOR } from "../wire/table/sponsor.ts";
import type { Answer, OpenCall, OpenHandlers } from "../http/route.ts";
import { limitKey } from "../wire/ip_addresses.ts";
import type { AddressLimiter } from "../http/limits/address_limits.ts";
import type { Charge } from "../http/limits/rate_limit.ts";
import { checkSponsoredKind } from "./allow_list.ts";
import { answeredBudget } from "./answered_transaction.ts";
import { GasBudget } from "./budget.ts";
import { Executions, Places } from "./executions.ts";
import type { LedgerSharing, SponsorLedger } from "./ledger.ts";

interface SponsorRequestsOptions {
  readonly sponsor: Sponsor;
  readonly config: SponsorConfig;
  /** Package whose account functions are paid for, `0x` and 64 lower-case hex characters. */
  readonly packageId: string;
  readonly ledger: SponsorLedger;
  readonly sharing: LedgerSharing;
  /** One of its own: invented senders must not push signed callers out of theirs. */
  readonly limiter: AddressLimiter;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longest wait for a sponsored transaction, milliseconds; a wallet may have to be split first. */
const SPONSOR_MS = 45_000;
/** Longest wait for an execution, milliseconds. */
const EXECUTE_MS = 60_000;
/** Requests handed to the sponsor at a time. */
const MAX_UNDER_WAY = 64;

/** Decides who may have what paid, how often and how much (docs/protocol.md#9.1). */
export class SponsorRequests {
  readonly #options: SponsorRequestsOptions;
  readonly #budget: GasBudget;
  readonly #executions: Executions;
  readonly #limiter: AddressLimiter;
  readonly #places = new Places(MAX_UNDER_WAY);

  constructor(options: SponsorRequestsOptions) {
    this.#options = options;
    const { ledger, sharing } = options;
    this.#budget = new GasBudget(options.config, ledger, options.now);
    this.#executions = new Executions(ledger, sharing, this.#places, options.now);
    this.#limiter = options.limiter;
  }

  /** What answers its routes, refusing in the order of docs/protocol.md#9.1. */
  get handlers(): OpenHandlers<"sponsor"> {
    return {
      "POST /sponsor": (call) => this.#sponsor(call),
      "POST /sponsor/execute": (call) => this.#execute(call),
    };
  }

  async #sponsor(call: OpenCall): Promise<Answer<"POST /sponsor">> {
    const { sponsor, config, packageId, ledger, sharing, now } = this.#options;
    const paid = await this.#spendForClient(call);
    const body = parseBody(SPONSOR["POST /sponsor"].body, await call.body());
    const { sender, transactionBlockKindBytes: kindBytes } = body;
    checkSponsoredKind(kindBytes, packageId);
    await this.#spendForSender(sender, paid);
    await sharing.fresh();
    using _held = this.#budget.hold();
    using _place = this.#places.take();
    const answer = await forward(() =>
      sponsor.sponsor({ sender, kindBytes }, { signal: AbortSignal.timeout(SPONSOR_MS) })
    );
    const gas = answeredBudget(answer, { sender, kindBytes });
    if (gas > config.maxGasMist) {
      throw new SvcError("sponsor_rejected", "The transaction needs more gas than is paid for");
    }
    const at = now();
    ledger.add({ digest: answer.digest, sender, at, gas }, at - SPONSORSHIP_MS);
    await this.#promise(answer.digest);
    return { status: 200, body: { bytes: answer.bytes.toBase64(), digest: answer.digest } };
  }

  /** Makes a sponsorship known to all relayers, unless they promised too much together. */
  async #promise(digest: string): Promise<void> {
    const { ledger, sharing } = this.#options;
    await sharing.kept();
    if (!this.#budget.isExceeded || ledger.get(digest)?.state !== "open") return;
    // Nobody was told of it, so that nobody executes it.
    ledger.drop(digest);
    await sharing.kept();
    throw new SvcError("sponsor_overloaded");
  }

  async #execute(call: OpenCall): Promise<Answer<"POST /sponsor/execute">> {
    const { sponsor, ledger, sharing, now } = this.#options;
    const paid = await this.#spendForClient(call);
    const { body: schema } = SPONSOR["POST /sponsor/execute"];
    const { digest, signature } = parseBody(schema, await call.body());
    await sharing.fresh();
    const known = ledger.get(digest);
    if (known === undefined || now() - known.at >= SPONSORSHIP_MS) {
      throw new SvcError("sponsorship_not_found");
    }
    await this.#spendForSender(known.sender, paid);
    // Not ended when the client leaves: what is paid must be known.
    await this.#executions.run(
      digest,
      () =>
        forward(() =>
          sponsor.execute({ digest, signature }, { signal: AbortSignal.timeout(EXECUTE_MS) })
        ),
    );
    return { status: 200, body: { digest } };
  }

  async #spendForClient({ context }: OpenCall): Promise<readonly Charge[]> {
    const key = limitKey(context.clientIp);
    const charges = this.#charges("sponsor_ip_burst", "sponsor_ip_sustained", key);
    await this.#limiter.spend(charges, 1);
    return charges;
  }

  /** @param paid what the client's layers were charged, and get back when this one denies. */
  async #spendForSender(sender: string, paid: readonly Charge[]): Promise<void> {
    try {
      await this.#limiter.spend(this.#charges("sponsor_sender", "sponsor_sender", sender), 1);
    } catch (error) {
      await this.#limiter.refund(paid, 1);
      throw error;
    }
  }

  #charges(minute: string, hour: string, key: string): readonly Charge[] {
    const { perMinute, perHour } = this.#options.config;
    return [
      { layer: { name: minute, limit: perMinute, seconds: 60 }, key },
      { layer: { name: hour, limit: perHour, seconds: 3600 }, key },
    ];
  }
}

/** Asks the sponsor; a timeout counts as a sponsor that cannot be reached. */
async function forward<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof DOMException && cause.name === "TimeoutError")) throw cause;
    throw new SvcError("sponsor_upstream_error", "The sponsor did not answer in time", { cause });
  }
}

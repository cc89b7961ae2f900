import type { SponsorConfig } from "../interfaces/config.ts";
import { SvcError } from "../errors.ts";
import type { Sponsor } from "../interfaces/mod.ts";
import { SPONSORSHIP_MS } from "../wire/limits.ts";
import { parseBody } from "../wire/request_members.ts";
import { SPONSOR } from "../wire/table/sponsor.ts";
import type { Answer, OpenCall, OpenHandlers } from "../http/route.ts";
import { limitKey } from "../wire/ip_addresses.ts";
import { type Charge, RateLimiter } from "../http/rate_limit.ts";
import { checkSponsoredKind } from "./allow_list.ts";
import { answeredBudget } from "./answered_transaction.ts";
import { GasBudget } from "./budget.ts";
import { Executions, Places } from "./executions.ts";
import type { SponsorLedger } from "./ledger.ts";

interface SponsorRequestsOptions {
  readonly sponsor: Sponsor;
  readonly config: SponsorConfig;
  /** Package whose account functions are paid for, `0x` and 64 lower-case hex characters. */
  readonly packageId: string;
  readonly ledger: SponsorLedger;
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
  /** A limiter of its own: invented senders must not push signed callers out of theirs. */
  readonly #limiter: RateLimiter;
  readonly #places = new Places(MAX_UNDER_WAY);

  constructor(options: SponsorRequestsOptions) {
    this.#options = options;
    this.#budget = new GasBudget(options.config, options.ledger, options.now);
    this.#executions = new Executions(options.ledger, this.#places, options.now);
    this.#limiter = new RateLimiter(options.now);
  }

  /** What answers its routes, refusing in the order of docs/protocol.md#9.1. */
  get handlers(): OpenHandlers<"sponsor"> {
    return {
      "POST /sponsor": (call) => this.#sponsor(call),
      "POST /sponsor/execute": (call) => this.#execute(call),
    };
  }

  async #sponsor(call: OpenCall): Promise<Answer<"POST /sponsor">> {
    const { sponsor, config, packageId, ledger, now } = this.#options;
    const paid = this.#spendForClient(call);
    const body = parseBody(SPONSOR["POST /sponsor"].body, await call.body());
    const { sender, transactionBlockKindBytes: kindBytes } = body;
    checkSponsoredKind(kindBytes, packageId);
    this.#spendForSender(sender, paid);
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
    return { status: 200, body: { bytes: answer.bytes.toBase64(), digest: answer.digest } };
  }

  async #execute(call: OpenCall): Promise<Answer<"POST /sponsor/execute">> {
    const { sponsor, ledger, now } = this.#options;
    const paid = this.#spendForClient(call);
    const { body: schema } = SPONSOR["POST /sponsor/execute"];
    const { digest, signature } = parseBody(schema, await call.body());
    const known = ledger.get(digest);
    if (known === undefined || now() - known.at >= SPONSORSHIP_MS) {
      throw new SvcError("sponsorship_not_found");
    }
    this.#spendForSender(known.sender, paid);
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

  #spendForClient({ context }: OpenCall): readonly Charge[] {
    const key = limitKey(context.clientIp);
    const charges = this.#charges("sponsor_ip_burst", "sponsor_ip_sustained", key);
    this.#limiter.spend(charges, 1);
    return charges;
  }

  /** @param paid what the client's layers were charged, and get back when this one denies. */
  #spendForSender(sender: string, paid: readonly Charge[]): void {
    try {
      this.#limiter.spend(this.#charges("sponsor_sender", "sponsor_sender", sender), 1);
    } catch (error) {
      this.#limiter.refund(paid, 1);
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

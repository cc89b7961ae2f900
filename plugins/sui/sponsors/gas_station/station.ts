import type { ClientWithCoreApi } from "@mysten/sui/client";
import type { Keypair } from "@mysten/sui/cryptography";
import { RpcError } from "@mysten/sui/grpc";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { isValidTransactionSignature } from "@mysten/sui/verify";
import { abortable } from "../../../../src/deadline.ts";
import { SvcError } from "../../../../src/errors.ts";
import type {
  CallOptions,
  ExecutedTransaction,
  Sponsor,
  SponsoredTransaction,
  SponsorRequest,
} from "../../../../src/interfaces/mod.ts";
import { changeOf, CoinPool, type Hold, netGas } from "./coin_pool.ts";
import { type Effects, SPLIT_GAS, StationNode, transactionBytes } from "./node.ts";
import { isRefusal, sponsorFailure } from "./sponsor_failure.ts";

/** What a {@linkcode GasStation} works with. */
export interface GasStationOptions {
  /** Its calls must end by themselves. */
  readonly client: ClientWithCoreApi;
  /** Pays; nobody else may spend its coins. */
  readonly wallet: Keypair;
  /** Most gas of one transaction, MIST. */
  readonly maxGasMist: number;
  readonly now?: () => number;
  readonly log?: (message: string) => void;
}

/** How long a sponsored transaction is remembered: relayers execute one within 10 minutes. */
const LIFE_MS = 720_000;
/** Units of gas above what the trial needed, because others may change the objects in between. */
const SPARE_UNITS = 1000n;

interface Sponsored {
  readonly bytes: Uint8Array;
  readonly sender: string;
  readonly signature: string;
  readonly hold: Hold;
  /** Whether it was sent to a node. */
  attempted: boolean;
  executing?: Promise<ExecutedTransaction> | undefined;
  executed?: ExecutedTransaction;
}

/**
 * A sponsor with a wallet of its own, which contacts the chain only. It remembers what it sponsored
 * for 12 minutes; each transaction in flight has a coin of its own.
 */
export class GasStation implements Sponsor {
  readonly #node: StationNode;
  readonly #wallet: Keypair;
  readonly #max: bigint;
  readonly #now: () => number;
  readonly #log: (message: string) => void;
  readonly #pool: CoinPool;
  readonly #sponsored = new Map<string, Sponsored>();

  constructor(options: GasStationOptions) {
    const { client, wallet, maxGasMist, now = Date.now, log = () => {} } = options;
    this.#node = new StationNode(client, wallet, now);
    this.#wallet = wallet;
    this.#max = BigInt(maxGasMist);
    this.#now = now;
    this.#log = log;
    this.#pool = new CoinPool({
      list: () => this.#node.coins(),
      split: (coins, parts) => this.#node.split(coins, parts),
      need: this.#max,
      splitGas: SPLIT_GAS,
      holdMs: LIFE_MS,
      now,
    });
  }

  async sponsor(
    request: SponsorRequest,
    { signal }: CallOptions = {},
  ): Promise<SponsoredTransaction> {
    signal?.throwIfAborted();
    if (request.sender === this.#node.address) throw new SvcError("sponsor_rejected");
    this.#sweep();
    try {
      const hold = await this.#takeCoin(signal);
      try {
        return await this.#make(request, hold, signal);
      } catch (error) {
        // The node may know another version of the coin.
        if (isRefusal(error)) this.#pool.forget(hold);
        else this.#pool.put(hold);
        throw error;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw sponsorFailure(error);
    }
  }

  async execute(
    { digest, signature }: { readonly digest: string; readonly signature: Uint8Array },
    { signal }: CallOptions = {},
  ): Promise<ExecutedTransaction> {
    signal?.throwIfAborted();
    try {
      const entry = this.#sponsored.get(digest);
      const work = entry === undefined
        ? this.#executedBefore(digest)
        : this.#executeOnce(digest, entry, signature.toBase64());
      // The signal ends only the wait: what was sent to the node goes on.
      return await abortable(work, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw sponsorFailure(error);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#sponsored.clear();
    return Promise.resolve();
  }

  async #takeCoin(signal: AbortSignal | undefined): Promise<Hold> {
    const taking = this.#pool.take();
    try {
      const hold = await abortable(taking, signal);
      if (hold !== undefined) return hold;
    } catch (error) {
      // A coin that comes when the caller has given up goes back.
      void taking.then((hold) => hold && this.#pool.put(hold), () => undefined);
      throw error;
    }
    if (this.#pool.held === 0) this.#log("gas-station: the wallet cannot pay a transaction");
    throw new SvcError("sponsor_overloaded");
  }

  /** Simulates the transaction with the largest budget, then makes it with what it needs. */
  async #make(
    { sender, kindBytes }: SponsorRequest,
    hold: Hold,
    signal: AbortSignal | undefined,
  ): Promise<SponsoredTransaction> {
    const terms = await this.#node.terms();
    const about = { sender, kindBytes, owner: this.#node.address, coin: hold.coin, ...terms };
    const effects = await this.#node.simulate(
      transactionBytes({ ...about, budget: this.#max }),
      signal,
    );
    if (effects === undefined || !effects.status.success) {
      throw new SvcError("sponsor_rejected", "The transaction would fail");
    }
    const { computationCost, storageCost } = effects.gasUsed;
    const budget = BigInt(computationCost) + BigInt(storageCost) + SPARE_UNITS * terms.price;
    if (budget > this.#max) {
      throw new SvcError("sponsor_rejected", "The transaction needs more gas than is paid for");
    }
    const bytes = transactionBytes({ ...about, budget });
    const { signature } = await this.#wallet.signTransaction(bytes);
    signal?.throwIfAborted();
    // The hold may have ended meanwhile.
    if (!this.#pool.renew(hold)) throw new SvcError("sponsor_overloaded");
    const digest = TransactionDataBuilder.getDigestFromBytes(bytes);
    this.#sponsored.set(digest, { bytes, sender, signature, hold, attempted: false });
    return { bytes, digest };
  }

  async #executeOnce(
    digest: string,
    entry: Sponsored,
    signature: string,
  ): Promise<ExecutedTransaction> {
    if (entry.executed !== undefined) return entry.executed;
    if (!await this.#isSigned(entry, signature)) throw new SvcError("invalid_sponsor_signature");
    if (entry.executed !== undefined) return entry.executed;
    entry.executing ??= this.#submit(digest, entry, signature)
      .finally(() => entry.executing = undefined);
    return await entry.executing;
  }

  /** Whether the sender signed; only signatures of zkLogin need the node to be checked. */
  async #isSigned({ bytes, sender: address }: Sponsored, signature: string): Promise<boolean> {
    const { client } = this.#node;
    try {
      return await isValidTransactionSignature(bytes, signature, { client, address });
    } catch (error) {
      if (error instanceof RpcError) throw error;
      return false; // The bytes are no signature.
    }
  }

  async #submit(
    digest: string,
    entry: Sponsored,
    signature: string,
  ): Promise<ExecutedTransaction> {
    entry.attempted = true;
    let effects: Effects | undefined;
    try {
      effects = await this.#node.execute(entry.bytes, [signature, entry.signature]);
    } catch (error) {
      this.#pool.renew(entry.hold);
      if (!isRefusal(error)) throw error;
      // Refused, because an earlier attempt whose answer was lost has spent the coin?
      effects = await this.#node.executed(digest);
      if (effects === undefined) {
        // It never will be executed, so another transaction may have the coin.
        this.#sponsored.delete(digest);
        this.#pool.forget(entry.hold);
        throw error;
      }
    }
    const { coins: [coin] } = changeOf(effects, [entry.hold.coin], 0n);
    if (coin !== undefined) this.#pool.put(entry.hold, coin);
    return entry.executed = executedAs(digest, effects);
  }

  /** Looks up a transaction that this process has not sponsored, as after a restart. */
  async #executedBefore(digest: string): Promise<ExecutedTransaction> {
    const effects = await this.#node.executed(digest);
    if (effects === undefined) throw new SvcError("sponsorship_not_found");
    return executedAs(digest, effects);
  }

  /** Forgets transactions whose time is over, and takes back coins that were not spent. */
  #sweep(): void {
    const now = this.#now();
    for (const [digest, entry] of this.#sponsored) {
      if (now < entry.hold.until || entry.executing !== undefined) continue;
      this.#sponsored.delete(digest);
      // Our signature has never left this process.
      if (!entry.attempted) this.#pool.put(entry.hold);
    }
  }
}

function executedAs(digest: string, effects: Effects): ExecutedTransaction {
  const gas = netGas(effects);
  return { digest, gasMist: gas > 0n ? Number(gas) : 0 };
}

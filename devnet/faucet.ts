import { isValidSuiAddress, normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "./sui/chain.ts";
import { coinBytes, coinObjectType, SUI_TYPE } from "./sui/coin.ts";
import { addressBytes, ownedBy } from "./sui/object.ts";
import { hash } from "./sui/ids.ts";
import type { EndpointHandler } from "./parts.ts";

/** What is sent to an address, in MIST and FROST (10^-9 SUI and WAL). */
export interface Amounts {
  /** MIST; 100 SUI when absent. */
  readonly sui?: bigint;
  /** FROST; 100 WAL when absent. */
  readonly wal?: bigint;
}

const DEFAULT_AMOUNT = 100_000_000_000n;

/** Makes money of nothing. */
export class Faucet {
  readonly #chain: Chain;
  readonly #walType: string;
  /** Address that sends. */
  readonly address: string;

  /** @param walType Type of WAL. */
  constructor(chain: Chain, walType: string) {
    this.#chain = chain;
    this.#walType = walType;
    this.address = `0x${hash(addressBytes("0xfa0ce7")).toHex()}`;
  }

  /** Sends new coins to an address, in one transaction of the faucet. Returns the coins' ids. */
  fund(address: string, { sui = DEFAULT_AMOUNT, wal = DEFAULT_AMOUNT }: Amounts = {}): string[] {
    return this.#chain.apply(
      this.address,
      "faucet",
      (tx) =>
        [[SUI_TYPE, sui] as const, [this.#walType, wal] as const]
          .filter(([, amount]) => amount > 0n)
          .map(([type, amount]) => {
            const id = tx.freshId();
            const owner = ownedBy(address);
            return tx.put({ id, type: coinObjectType(type), owner, bcs: coinBytes(id, amount) });
          }),
    );
  }

  /**
   * `POST {"address"}`; also the form of the Sui faucet,
   * `POST /v2/gas {"FixedAmountRequest": {"recipient"}}`, which requestSuiFromFaucetV2 sends.
   */
  readonly handle: EndpointHandler = async (request) => {
    if (request.method !== "POST") return new Response("use POST", { status: 405 });
    let address: unknown;
    try {
      const body = await request.json();
      address = body?.address ?? body?.FixedAmountRequest?.recipient;
    } catch {
      // Not JSON: no address.
    }
    if (typeof address !== "string" || !isValidSuiAddress(normalizeSuiAddress(address))) {
      return Response.json({ status: { Failure: { internal: "no address" } } }, { status: 400 });
    }
    const ids = this.fund(address);
    const digest = this.#chain.transactions.at(-1)?.digest;
    return Response.json({
      status: "Success",
      coins_sent: ids.map((id) => ({
        amount: Number(DEFAULT_AMOUNT),
        id,
        transferTxDigest: digest,
      })),
    });
  };
}

import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "./chain.ts";
import { coinBalance, coinObjectType, SUI_TYPE } from "./coin.ts";
import { ExecutionFailure, RpcFault } from "./failure.ts";
import type { ChainObject } from "./object.ts";
import type { Tx } from "./tx.ts";
import type { Value } from "./value.ts";

/** Reference gas price in MIST. */
export const GAS_PRICE = 1000n;

/** What every transaction costs in MIST: there is no gas model. */
export const GAS_CHARGE = 2_000_000n;

/** Budget of a transaction that names none, in MIST. */
export const DEFAULT_BUDGET = 10_000_000n;

/** Most coins that pay for one transaction, as on Sui. */
const MOST_COINS = 256;

const GAS_COIN_TYPE = coinObjectType(SUI_TYPE);

/** SUI coins of an address, the fullest first. */
function gasCoins(chain: Chain, owner: string): ChainObject[] {
  return chain.objects.ownedBy(normalizeSuiAddress(owner))
    .filter(({ type }) => type === GAS_COIN_TYPE)
    .sort((a, b) => {
      const difference = coinBalance(b) - coinBalance(a);
      return difference > 0n ? 1 : difference < 0n ? -1 : 0;
    });
}

/**
 * Coins of an address that cover a budget.
 *
 * @param used Ids that the transaction uses otherwise.
 * Throws RpcFault when they do not suffice.
 */
export function selectGas(
  chain: Chain,
  owner: string,
  budget: bigint,
  used: ReadonlySet<string>,
): ChainObject[] {
  const chosen: ChainObject[] = [];
  let sum = 0n;
  for (const coin of gasCoins(chain, owner)) {
    if (used.has(coin.id)) continue;
    chosen.push(coin);
    sum += coinBalance(coin);
    if (sum >= budget || chosen.length === MOST_COINS) break;
  }
  if (sum >= budget) return chosen;
  throw new RpcFault(
    "INVALID_ARGUMENT",
    `Unable to perform gas selection due to insufficient SUI balance for account ${owner} ` +
      `to satisfy required budget ${budget}.`,
  );
}

/** Who runs and pays for a transaction. */
export interface PaidRun {
  /** Address that signs. */
  readonly sender: string;
  /** Digest. */
  readonly digest: string;
  /** Coins that pay; the first one is the gas coin and takes in the others. None: nothing is paid. */
  readonly payment: readonly string[];
  /** In MIST. */
  readonly budget: bigint;
}

/** What came of a paid transaction. */
export interface PaidResult {
  /** What is to be committed. */
  readonly tx: Tx;
  /** Results of the commands. */
  readonly results: readonly (readonly Value[])[];
  /** Why it failed; then the writes are those of the gas and of the inputs' versions. */
  readonly failure?: ExecutionFailure;
  /** In MIST. */
  readonly gas: bigint;
}

/** Merges the payment into its first coin and sets the budget aside. Returns what it holds. */
function setAside(tx: Tx, payment: readonly string[], budget: bigint): bigint {
  const [first, ...others] = payment;
  if (first === undefined) return 0n;
  let sum = tx.coinBalance(first);
  for (const id of others) {
    sum += tx.coinBalance(id);
    tx.del(id);
  }
  if (sum < budget) {
    throw new RpcFault("INVALID_ARGUMENT", "Balance of gas object is lower than the needed amount");
  }
  tx.setBalance(first, sum - budget);
  return sum;
}

/** Owned and mutable inputs get a new version even when nothing about them changes. */
function touchInputs(tx: Tx, program: GrpcTypes.ProgrammableTransaction): void {
  for (const { kind, objectId, mutable } of program.inputs) {
    if (kind === GrpcTypes.Input_InputKind.PURE || objectId === undefined) continue;
    const object = tx.tryGet(objectId);
    if (object === undefined || tx.written.has(object.id)) continue;
    const owned = object.owner.kind === "address";
    if (owned || (object.owner.kind === "shared" && mutable === true)) tx.put(object);
  }
}

/**
 * Runs a transaction and charges its gas, whether it succeeds or fails; commits nothing.
 * Throws RpcFault when the payment does not hold the budget.
 */
export function runPaid(
  chain: Chain,
  program: GrpcTypes.ProgrammableTransaction,
  { sender, digest, payment, budget }: PaidRun,
): PaidResult {
  const [gasCoin] = payment;
  const gas = gasCoin === undefined ? 0n : GAS_CHARGE;
  const tx = chain.begin(sender, digest);
  const held = setAside(tx, payment, budget);
  try {
    if (budget < gas) throw new ExecutionFailure("INSUFFICIENT_GAS", "the budget is too low");
    const results = chain.run(tx, program, gasCoin);
    if (gasCoin !== undefined && tx.tryGet(gasCoin) !== undefined) {
      tx.setBalance(gasCoin, tx.coinBalance(gasCoin) + budget - gas);
    }
    touchInputs(tx, program);
    return { tx, results, gas };
  } catch (failure) {
    if (!(failure instanceof ExecutionFailure)) throw failure;
    const charged = chain.begin(sender, digest);
    setAside(charged, payment, budget);
    const spent = gas < budget ? gas : budget;
    if (gasCoin !== undefined) charged.setBalance(gasCoin, held - spent);
    touchInputs(charged, program);
    return { tx: charged, results: [], failure, gas: spent };
  }
}

import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "./chain.ts";
import { coinObjectType, SUI_TYPE } from "./coin.ts";
import { RpcFault } from "./failure.ts";
import { GAS_PRICE } from "./gas.ts";
import { objectDigest } from "./ids.ts";
import type { ChainObject } from "./object.ts";
import { programIn } from "./resolve.ts";

const InputKind = GrpcTypes.Input_InputKind;
const ExpirationKind = GrpcTypes.TransactionExpiration_TransactionExpirationKind;

function refuse(message: string): never {
  throw new RpcFault("INVALID_ARGUMENT", message);
}

function existing(chain: Chain, id: string | undefined): ChainObject {
  return chain.object(normalizeSuiAddress(id ?? "0x0")) ??
    refuse(`Could not find the referenced object ${id} at version None`);
}

function checkVersion(object: ChainObject, reference: GrpcTypes.ObjectReference): void {
  if (reference.version !== object.version) {
    throw new RpcFault(
      "FAILED_PRECONDITION",
      `Object ID ${object.id} Version ${reference.version} is not available for consumption, ` +
        `current version: ${object.version}`,
    );
  }
  if (reference.digest !== objectDigest(object)) refuse(`Invalid object digest of ${object.id}`);
}

/** Owned inputs belong to the sender at the named version, shared ones are shared since then. */
function checkInput(
  chain: Chain,
  input: GrpcTypes.Input,
  sender: string,
  seen: Set<string>,
): void {
  if (input.kind === InputKind.PURE) return;
  const object = existing(chain, input.objectId);
  if (seen.has(object.id)) refuse(`Mutable object ${object.id} cannot appear more than once`);
  seen.add(object.id);
  const { owner } = object;
  switch (input.kind) {
    case InputKind.SHARED:
      if (owner.kind !== "shared") return refuse(`Object ${object.id} is not shared`);
      if (owner.since !== input.version) refuse(`Object ${object.id} is not shared since then`);
      return;
    case InputKind.IMMUTABLE_OR_OWNED:
      if (owner.kind === "shared" || owner.kind === "object") {
        return refuse(`Object ${object.id} is owned by nobody who could sign`);
      }
      if (owner.kind === "address" && owner.address !== sender) {
        refuse(
          "Transaction was not signed by the correct sender: " +
            `Object ${object.id} is owned by account address ${owner.address}, ` +
            `but given owner/signer address is ${sender}`,
        );
      }
      return checkVersion(object, input);
    default:
      refuse("inputs of this kind are not supported");
  }
}

function checkGas(
  chain: Chain,
  payment: GrpcTypes.GasPayment,
  sender: string,
  seen: Set<string>,
): void {
  const owner = normalizeSuiAddress(payment.owner ?? sender);
  if ((payment.price ?? 0n) < GAS_PRICE) {
    refuse(`Gas price ${payment.price ?? 0n} under reference gas price ${GAS_PRICE}`);
  }
  for (const each of payment.objects) {
    const coin = existing(chain, each.objectId);
    if (seen.has(coin.id)) refuse(`Mutable object ${coin.id} cannot appear more than once`);
    seen.add(coin.id);
    if (coin.type !== coinObjectType(SUI_TYPE)) refuse(`Object ${coin.id} cannot pay gas`);
    if (coin.owner.kind !== "address" || coin.owner.address !== owner) {
      refuse(`Gas object ${coin.id} is not owned by ${owner}`);
    }
    checkVersion(coin, each);
  }
}

function checkExpiration(
  chain: Chain,
  expiration: GrpcTypes.TransactionExpiration | undefined,
): void {
  if (expiration?.kind === undefined || expiration.kind === ExpirationKind.NONE) return;
  if (expiration.chain !== undefined && expiration.chain !== chain.chainId) {
    refuse("Transaction is for another chain");
  }
  const { epoch: last = chain.epoch, minEpoch: first = 0n } = expiration;
  if (chain.epoch > last || chain.epoch < first) refuse("Transaction Expired");
}

/**
 * Checks what a validator checks before it signs: owners, versions, digests, gas and expiry.
 * Throws RpcFault.
 */
export function admit(chain: Chain, transaction: GrpcTypes.Transaction): void {
  const sender = normalizeSuiAddress(transaction.sender ?? "0x0");
  const seen = new Set<string>();
  checkExpiration(chain, transaction.expiration);
  for (const input of programIn(transaction).inputs) checkInput(chain, input, sender, seen);
  if (transaction.gasPayment !== undefined && transaction.gasPayment.objects.length > 0) {
    checkGas(chain, transaction.gasPayment, sender, seen);
  }
}

import type { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { ChainEvent, TransactionRecord } from "../ledger.ts";
import { RpcFault } from "../failure.ts";

/** `address[::module[::Name…]]` with the address in its long form. */
function normalizePath(path: string | undefined): string {
  const [address = "", ...rest] = (path ?? "").split("::");
  return [normalizeSuiAddress(address), ...rest].join("::");
}

/** Whether a full name is the path itself or lies below it. */
function isWithin(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}::`) || name.startsWith(`${path}<`);
}

function unsupported(kind: string | undefined): never {
  throw new RpcFault("UNIMPLEMENTED", `filters by ${kind ?? "nothing"} are not supported`);
}

function eventLiteral(event: ChainEvent, { predicate }: GrpcTypes.EventLiteral): boolean {
  switch (predicate.oneofKind) {
    case "sender":
      return event.sender === normalizeSuiAddress(predicate.sender.address ?? "");
    case "emitModule":
      return isWithin(
        `${event.packageId}::${event.module}`,
        normalizePath(predicate.emitModule.module),
      );
    case "eventType":
      return isWithin(event.type, normalizePath(predicate.eventType.eventType));
    default:
      return unsupported(predicate.oneofKind);
  }
}

/** Whether an event passes a filter: any of its terms, each of which needs all its literals. */
export function matchesEvent(
  event: ChainEvent,
  filter: GrpcTypes.EventFilter | undefined,
): boolean {
  return filter === undefined ||
    filter.terms.some(({ literals }) =>
      literals.every((literal) => eventLiteral(event, literal) !== literal.negated)
    );
}

function transactionLiteral(
  record: TransactionRecord,
  events: readonly ChainEvent[],
  { predicate }: GrpcTypes.TransactionLiteral,
): boolean {
  switch (predicate.oneofKind) {
    case "sender":
      return record.sender === normalizeSuiAddress(predicate.sender.address ?? "");
    case "moveCall": {
      const path = normalizePath(predicate.moveCall.function);
      return record.commands.some((command) => isWithin(command, path));
    }
    case "emitModule":
    case "eventType":
      return events.some((event) => eventLiteral(event, { negated: false, predicate }));
    default:
      return unsupported(predicate.oneofKind);
  }
}

/** Whether a transaction passes a filter. @param events Those of the transaction. */
export function matchesTransaction(
  record: TransactionRecord,
  events: readonly ChainEvent[],
  filter: GrpcTypes.TransactionFilter | undefined,
): boolean {
  return filter === undefined ||
    filter.terms.some(({ literals }) =>
      literals.every((literal) => transactionLiteral(record, events, literal) !== literal.negated)
    );
}

import { GrpcTypes } from "@mysten/sui/grpc";
import type { Chain } from "../chain.ts";
import { RpcFault } from "../failure.ts";
import { protoEvent } from "../ledger.ts";
import { mask } from "./field_mask.ts";
import { matchesEvent, matchesTransaction } from "./filters.ts";
import { type RpcMethod, streaming } from "./method.ts";

const { Ordering, QueryEndReason } = GrpcTypes;
const DEFAULT_LIMIT = 50;
const MOST = 1000;
const TEXT = new TextEncoder();

/** A position in a list: how many items lie before it, as text. */
export function cursorAt(position: number): Uint8Array {
  return TEXT.encode(String(position));
}

function positionOf(cursor: Uint8Array | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const position = Number(new TextDecoder().decode(cursor));
  if (Number.isInteger(position)) return position;
  throw new RpcFault("INVALID_ARGUMENT", "invalid cursor");
}

/** Which part of a list a request reads. */
interface Query {
  readonly options?: GrpcTypes.QueryOptions;
  readonly startCheckpoint?: bigint;
  readonly endCheckpoint?: bigint;
}

/** An item of a list and the cursor behind it. */
interface Found<T> {
  readonly item: T;
  readonly watermark: GrpcTypes.Watermark;
}

/** The matching items of a request, in its order; then why there are no more. */
function* scan<T extends { readonly checkpoint: number }>(
  all: readonly T[],
  { options, startCheckpoint, endCheckpoint }: Query,
  matches: (item: T) => boolean,
): Generator<Found<T>, GrpcTypes.QueryEnd> {
  const limit = Math.min(options?.limit || DEFAULT_LIMIT, MOST);
  const after = positionOf(options?.after) ?? 0;
  const before = positionOf(options?.before) ?? Infinity;
  const descending = options?.ordering === Ordering.DESCENDING;
  let sent = 0;
  for (let step = 0; step < all.length; step++) {
    const index = descending ? all.length - 1 - step : step;
    const item = all[index];
    const position = index + 1;
    if (item === undefined || position <= after || position >= before) continue;
    if (startCheckpoint !== undefined && item.checkpoint < startCheckpoint) continue;
    if (endCheckpoint !== undefined && item.checkpoint > endCheckpoint) continue;
    if (!matches(item)) continue;
    if (sent++ === limit) return { reason: QueryEndReason.ITEM_LIMIT };
    const watermark = { cursor: cursorAt(position), checkpoint: BigInt(item.checkpoint) };
    yield { item, watermark };
  }
  return { reason: sent === limit ? QueryEndReason.ITEM_LIMIT : QueryEndReason.LEDGER_TIP };
}

function* listEvents(
  chain: Chain,
  request: GrpcTypes.ListEventsRequest,
): Generator<GrpcTypes.ListEventsResponse> {
  const found = scan(chain.ledger.events, request, (event) => matchesEvent(event, request.filter));
  const paths = request.readMask?.paths ?? ["*"];
  let next = found.next();
  for (; !next.done; next = found.next()) {
    const { item, watermark } = next.value;
    yield { event: mask(GrpcTypes.Event, protoEvent(item), paths), watermark };
  }
  yield { end: next.value };
}

function* listTransactions(
  chain: Chain,
  request: GrpcTypes.ListTransactionsRequest,
): Generator<GrpcTypes.ListTransactionsResponse> {
  const { records, events, transactions } = chain.ledger;
  const found = scan(records, request, (record) =>
    matchesTransaction(
      record,
      events.filter(({ digest }) => digest === record.digest),
      request.filter,
    ));
  const paths = request.readMask?.paths ?? ["digest"];
  let next = found.next();
  for (; !next.done; next = found.next()) {
    const { item, watermark } = next.value;
    const executed = transactions.get(item.digest);
    if (executed === undefined) continue;
    yield { transaction: mask(GrpcTypes.ExecutedTransaction, executed, paths), watermark };
  }
  yield { end: next.value };
}

/** Methods of LedgerService that list. */
export function queries(chain: Chain): RpcMethod[] {
  return [
    streaming(
      "LedgerService/ListEvents",
      GrpcTypes.ListEventsRequest,
      GrpcTypes.ListEventsResponse,
      (request) => listEvents(chain, request),
    ),
    streaming(
      "LedgerService/ListTransactions",
      GrpcTypes.ListTransactionsRequest,
      GrpcTypes.ListTransactionsResponse,
      (request) => listTransactions(chain, request),
    ),
  ];
}

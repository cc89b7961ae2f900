import { GrpcTypes } from "@mysten/sui/grpc";
import type { Chain } from "../chain.ts";
import { protoEvent } from "../ledger.ts";
import { checkpointMessage } from "./checkpoint_message.ts";
import { mask } from "./field_mask.ts";
import { matchesEvent, matchesTransaction } from "./filters.ts";
import { type RpcMethod, streaming } from "./method.ts";
import { cursorAt } from "./queries.ts";

/** Ends a subscription whose reader is slower than the chain. */
const MOST_WAITING = 10_000;

/** What is pushed, until the signal aborts. The push begins before the first wait. */
async function* follow<T>(
  first: readonly T[],
  watch: (push: (item: T) => void) => () => void,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const waiting: T[] = [...first];
  let wake = () => {};
  const unwatch = watch((item) => {
    waiting.push(item);
    wake();
  });
  const end = () => wake();
  signal.addEventListener("abort", end);
  try {
    while (!signal.aborted && waiting.length < MOST_WAITING) {
      const item = waiting.shift();
      if (item !== undefined) {
        yield item;
        continue;
      }
      await new Promise<void>((resolve) => wake = resolve);
    }
  } finally {
    signal.removeEventListener("abort", end);
    unwatch();
  }
}

/** Events as they happen; the first message only says where the stream begins. */
function subscribeEvents(
  chain: Chain,
  { filter, readMask }: GrpcTypes.SubscribeEventsRequest,
  signal: AbortSignal,
): AsyncIterable<GrpcTypes.SubscribeEventsResponse> {
  const { ledger } = chain;
  const start = { cursor: cursorAt(ledger.events.length), checkpoint: BigInt(ledger.height) };
  return follow<GrpcTypes.SubscribeEventsResponse>(
    [{ watermark: start }],
    (push) =>
      ledger.watch((record, events) => {
        for (const [index, event] of events.entries()) {
          if (!matchesEvent(event, filter)) continue;
          const position = ledger.events.length - events.length + index + 1;
          push({
            event: mask(GrpcTypes.Event, protoEvent(event), readMask?.paths ?? ["*"]),
            watermark: { cursor: cursorAt(position), checkpoint: BigInt(record.checkpoint) },
          });
        }
      }),
    signal,
  );
}

/** Transactions as they are committed. */
function subscribeTransactions(
  chain: Chain,
  { filter, readMask }: GrpcTypes.SubscribeTransactionsRequest,
  signal: AbortSignal,
): AsyncIterable<GrpcTypes.SubscribeTransactionsResponse> {
  const { ledger } = chain;
  const start = { cursor: cursorAt(ledger.records.length), checkpoint: BigInt(ledger.height) };
  return follow<GrpcTypes.SubscribeTransactionsResponse>(
    [{ watermark: start }],
    (push) =>
      ledger.watch((record, events) => {
        const executed = ledger.transactions.get(record.digest);
        if (executed === undefined || !matchesTransaction(record, events, filter)) return;
        push({
          transaction: mask(GrpcTypes.ExecutedTransaction, executed, readMask?.paths ?? ["digest"]),
          watermark: {
            cursor: cursorAt(ledger.records.length),
            checkpoint: BigInt(record.checkpoint),
          },
        });
      }),
    signal,
  );
}

/** Checkpoints from the latest on: one for every transaction. */
function subscribeCheckpoints(
  chain: Chain,
  { filter, readMask }: GrpcTypes.SubscribeCheckpointsRequest,
  signal: AbortSignal,
): AsyncIterable<GrpcTypes.SubscribeCheckpointsResponse> {
  const { height } = chain.ledger;
  const checkpoint = checkpointMessage(chain, height, readMask?.paths);
  return follow<GrpcTypes.SubscribeCheckpointsResponse>(
    [{ cursor: BigInt(height), checkpoint }],
    (push) =>
      chain.ledger.watch((record, events) => {
        const cursor = BigInt(record.checkpoint);
        if (!matchesTransaction(record, events, filter)) push({ cursor });
        else {
          push({
            cursor,
            checkpoint: checkpointMessage(chain, record.checkpoint, readMask?.paths),
          });
        }
      }),
    signal,
  );
}

/** Methods of SubscriptionService. */
export function subscriptions(chain: Chain): RpcMethod[] {
  return [
    streaming(
      "SubscriptionService/SubscribeEvents",
      GrpcTypes.SubscribeEventsRequest,
      GrpcTypes.SubscribeEventsResponse,
      (request, { signal }) => subscribeEvents(chain, request, signal),
    ),
    streaming(
      "SubscriptionService/SubscribeTransactions",
      GrpcTypes.SubscribeTransactionsRequest,
      GrpcTypes.SubscribeTransactionsResponse,
      (request, { signal }) => subscribeTransactions(chain, request, signal),
    ),
    streaming(
      "SubscriptionService/SubscribeCheckpoints",
      GrpcTypes.SubscribeCheckpointsRequest,
      GrpcTypes.SubscribeCheckpointsResponse,
      (request, { signal }) => subscribeCheckpoints(chain, request, signal),
    ),
  ];
}

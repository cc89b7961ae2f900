import { type GrpcTypes, RpcError, type SuiGrpcClient } from "@mysten/sui/grpc";
import { pause } from "../../../src/deadline.ts";
import { normalizeStructTag } from "@mysten/sui/utils";

/** What a connection tells: that it tells all changes from now on, or that an account changed. */
type AccountNews = { readonly kind: "connected" } | {
  readonly kind: "changed";
  /** `0x` and 64 lower-case hex characters; `undefined` when the event does not say. */
  readonly accountId: string | undefined;
};

/** How a connection works; see `WatchOptions`. */
interface EventOptions {
  /** Package whose events are told. */
  readonly packageId: string;
  readonly settleMs: number;
  readonly pollMs: number;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** Values of `QueryEndReason` in sui.rpc.v2 after which more events can be asked for at once. */
const MORE = [1, 2];

const PAGE = 100;
/** Polls before the next try whether the node pushes events. */
const LOOKS = 200;
const PATHS = ["event_type", "contents"];

/** gRPC codes when a node lacks a method, or when a proxy holds back its stream. */
const MISSING = ["UNIMPLEMENTED", "DEADLINE_EXCEEDED"];

/** Whether a subscription failed in a way that makes it worthwhile to poll. */
export function isMissing(thrown: unknown): boolean {
  return thrown instanceof RpcError && MISSING.includes(thrown.code);
}

/** News out of any event of the account module; the first field of each is the account's id. */
function newsOf(event: GrpcTypes.Event, packageId: string): AccountNews | undefined {
  let type: string;
  try {
    type = normalizeStructTag(event.eventType ?? "");
  } catch {
    return { kind: "changed", accountId: undefined };
  }
  if (!type.startsWith(`${packageId}::account::`)) return undefined;
  const id = event.contents?.value?.subarray(0, 32);
  return { kind: "changed", accountId: id?.length === 32 ? `0x${id.toHex()}` : undefined };
}

function filterOf(packageId: string): GrpcTypes.EventFilter {
  const eventType = { eventType: `${packageId}::account` };
  const predicate = { oneofKind: "eventType" as const, eventType };
  return { terms: [{ literals: [{ negated: false, predicate }] }] };
}

/**
 * Events that the node pushes. A node also sends frames without an event, so silence means a broken
 * connection.
 *
 * @throws {RpcError} when the connection ends, and at once when the node pushes nothing.
 */
export async function* pushedEvents(
  client: SuiGrpcClient,
  { packageId, settleMs, signal }: EventOptions,
): AsyncGenerator<AccountNews> {
  const call = client.subscriptionService.subscribeEvents({
    readMask: { paths: PATHS },
    filter: filterOf(packageId),
  }, { abort: signal });
  // Before the first wait, because events that come before somebody listens are lost.
  const frames = call.responses[Symbol.asyncIterator]();
  let next = frames.next();
  next.catch(() => {});
  await call.headers;
  await Promise.race([next, pause(settleMs, signal)]);
  yield { kind: "connected" };
  for (;; next = frames.next()) {
    const { done, value } = await next;
    if (done) return;
    const news = value.event && newsOf(value.event, packageId);
    if (news !== undefined) yield news;
  }
}

/**
 * Events from now on, by polling.
 *
 * @throws {RpcError} when the node does not answer, or keeps no index of events.
 */
export async function* polledEvents(
  client: SuiGrpcClient,
  { packageId, pollMs, signal }: EventOptions,
): AsyncGenerator<AccountNews> {
  const { response: info } = await client.ledgerService.getServiceInfo({}, { abort: signal });
  const start = info.checkpointHeight;
  let cursor: Uint8Array | undefined;
  for (let look = 0; look < LOOKS; look++) {
    for (let more = true; more;) {
      more = false;
      const { responses } = client.ledgerService.listEvents({
        readMask: { paths: PATHS },
        filter: filterOf(packageId),
        ...(cursor === undefined && start !== undefined ? { startCheckpoint: start } : {}),
        options: { limit: PAGE, ...(cursor === undefined ? {} : { after: cursor }) },
      }, { abort: signal });
      for await (const { event, watermark, end } of responses) {
        const moved = watermark?.cursor !== undefined;
        if (moved) cursor = watermark.cursor;
        const news = event && newsOf(event, packageId);
        if (news !== undefined) yield news;
        // Without a new cursor the same page would come again and again.
        if (end !== undefined) more = moved && MORE.includes(end.reason ?? 0);
      }
    }
    if (look === 0) yield { kind: "connected" };
    await pause(pollMs, signal);
  }
}

import { type GrpcTypes, RpcError, type SuiGrpcClient } from "@mysten/sui/grpc";
import { normalizeStructTag } from "@mysten/sui/utils";

/** What a connection tells: it is up to date from here on, or an account changed. */
type AccountNews = { readonly kind: "connected" } | {
  readonly kind: "changed";
  /** `0x` and 64 lower-case hex characters; `undefined` when the event does not say. */
  readonly accountId: string | undefined;
};

/** Numbers of a connection. */
interface EventOptions {
  /** Package whose events count. */
  readonly packageId: string;
  /** How long a subscription may take to fail, for which some nodes need a moment, in milliseconds. */
  readonly settleMs: number;
  /** Time between two looks where the node pushes nothing, in milliseconds. */
  readonly pollMs: number;
  /** Looks before it is tried again whether the node pushes events. */
  readonly looks: number;
  /** Ends the connection. */
  readonly signal: AbortSignal;
  /** Waits, until the signal at most. */
  readonly wait: (ms: number) => Promise<void>;
}

/** `QueryEndReason` of sui.rpc.v2 after which there is more to ask for at once. */
const MORE = [1, 2];

const PAGE = 100;
const PATHS = ["event_type", "contents"];

/** What comes of a method that a node does not have, or whose stream something on the way holds. */
const MISSING = ["UNIMPLEMENTED", "DEADLINE_EXCEEDED"];

/** Whether it is worth a try to ask for what was not pushed. */
export function isMissing(thrown: unknown): boolean {
  return thrown instanceof RpcError && MISSING.includes(thrown.code);
}

/** Events of the account module, however they are called: the first field is the account's id. */
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
 * Events as the node pushes them. A node sends the frames of what it has passed by, also without an
 * event, so that silence means a broken connection.
 *
 * @throws {RpcError} when the connection ends, and at once where the node pushes nothing.
 */
export async function* pushedEvents(
  client: SuiGrpcClient,
  { packageId, settleMs, signal, wait }: EventOptions,
): AsyncGenerator<AccountNews> {
  const call = client.subscriptionService.subscribeEvents({
    readMask: { paths: PATHS },
    filter: filterOf(packageId),
  }, { abort: signal });
  // What comes before somebody listens is lost: listen before the first wait.
  const frames = call.responses[Symbol.asyncIterator]();
  let next = frames.next();
  next.catch(() => {});
  await call.headers;
  await Promise.race([next, wait(settleMs)]);
  yield { kind: "connected" };
  for (;; next = frames.next()) {
    const { done, value } = await next;
    if (done) return;
    const news = value.event && newsOf(value.event, packageId);
    if (news !== undefined) yield news;
  }
}

/**
 * Events as they are found by asking, from now on.
 *
 * @throws {RpcError} when the node does not answer, also because it keeps no index of events.
 */
export async function* polledEvents(
  client: SuiGrpcClient,
  { packageId, pollMs, looks, signal, wait }: EventOptions,
): AsyncGenerator<AccountNews> {
  const { response: info } = await client.ledgerService.getServiceInfo({}, { abort: signal });
  const start = info.checkpointHeight;
  let cursor: Uint8Array | undefined;
  for (let look = 0; look < looks; look++) {
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
        // Without a way on, the same page would come again and again.
        if (end !== undefined) more = moved && MORE.includes(end.reason ?? 0);
      }
    }
    if (look === 0) yield { kind: "connected" };
    await wait(pollMs);
  }
}

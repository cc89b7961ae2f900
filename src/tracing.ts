/** Values of a span; never texts, keys, queries, or ids of accounts. */
export type Attributes = Readonly<Record<string, string | number>>;

/** Names a span, here or in another process. */
export interface TraceParent {
  spanContext(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };
}

/** A span of OpenTelemetry, as far as it is used here. */
export interface Span extends TraceParent {
  setAttribute(name: string, value: string | bigint | number): void;
  setStatus(status: { readonly code: number }): void;
  updateName(name: string): void;
  end(): void;
}

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
}

/** What OpenTelemetry's API finds under its own symbol. */
interface Telemetry {
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: { readonly kind: number }, context: Context): Span;
    };
  };
  readonly context: {
    active(): Context;
    with<T>(context: Context, work: () => T): T;
  };
}

/** Set by Deno before a program starts with `OTEL_DENO=true`; else nothing here does anything. */
const TELEMETRY = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1")) as
  | Partial<Telemetry>
  | undefined;
const CONTEXT = TELEMETRY?.context;
const TRACER = CONTEXT && TELEMETRY?.trace?.getTracer("svc");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
const KINDS = { internal: 0, server: 1, client: 2 } as const;
const FAILED = { code: 2 };
/** The only version there is (https://www.w3.org/TR/trace-context/). */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** What a span is, besides its name. */
export interface SpanOptions {
  /** `server` answers a request, `client` calls what is elsewhere; else `internal`. */
  readonly kind?: keyof typeof KINDS;
  /** What it is part of; by default the current span. */
  readonly parent?: TraceParent | "none" | undefined;
  readonly attributes?: Attributes;
}

/** The span in which this runs; `undefined` when there is none, or nothing is traced. */
export function currentSpan(): TraceParent | undefined {
  return TRACER && CONTEXT!.active().getValue(SPAN) as TraceParent | undefined;
}

/** The `traceparent` of a request that is sent from here. */
export function traceparent(): string | undefined {
  const span = currentSpan()?.spanContext();
  if (span === undefined) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}

/**
 * The span that a request is part of: the current one, or the one its `traceparent` names. A header
 * that breaks the rules is passed over, as `tracestate` and `baggage` always are.
 */
export function requestParent(headers: Headers): TraceParent | undefined {
  if (TRACER === undefined) return undefined;
  const current = currentSpan();
  if (current !== undefined) return current;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(headers.get("traceparent") ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  const named = { traceId, spanId, traceFlags: Number(`0x${flags}`) & 1, isRemote: true };
  return { spanContext: () => named };
}

/**
 * Does some work as a span; what it calls is part of it. Where nothing is traced, it only does the
 * work, and there is no span.
 */
export function traced<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  return TRACER === undefined ? work(undefined) : record(name, options, work);
}

async function record<T>(
  name: string,
  { kind = "internal", parent, attributes = {} }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const active = CONTEXT!.active();
  const around = parent === undefined
    ? active
    : active.setValue(SPAN, parent === "none" ? undefined : parent);
  const span = TRACER!.startSpan(name, { kind: KINDS[kind] }, around);
  for (const [key, value] of Object.entries(attributes)) span.setAttribute(key, value);
  try {
    return await CONTEXT!.with(around.setValue(SPAN, span), () => work(span));
  } catch (error) {
    fail(span, reasonOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Notes that a span's work failed, and why. */
export function fail(span: Span, reason: string): void {
  span.setStatus(FAILED);
  span.setAttribute("error.type", reason);
}

/** The code of an error, or its name; its message may quote what a caller sent. */
function reasonOf(error: unknown): string {
  const { code, name }: { code?: unknown; name?: unknown } = Object(error);
  const found = [code, name].find((word) => typeof word === "string" && /^\w{1,64}$/.test(word));
  return typeof found === "string" ? found : "unknown";
}

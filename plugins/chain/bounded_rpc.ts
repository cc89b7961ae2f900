import { AnswerTooLarge, late, NodeFailure, refusal, unreachable } from "./node_failure.ts";

/** Bounds of every exchange with a node. */
export interface RpcBounds {
  /** Longest wait for a whole answer, or for the start of a subscription, in milliseconds. */
  readonly timeoutMs: number;
  /** Most bytes of an answer, or of one message of a subscription. */
  readonly maxBytes: number;
  /** Longest silence of a subscription in milliseconds. */
  readonly idleMs: number;
}

/** Calls that go on until somebody ends them; all others have an end. */
const ENDLESS = "/sui.rpc.v2.SubscriptionService/";

/** Bytes in front of a gRPC-web message: a flag, and the length as u32, big-endian. */
const PREFIX_BYTES = 5;

/** Aborts with the reason after some time without {@linkcode Countdown.restart}. */
class Countdown {
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.restart(ms);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  restart(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort.abort(late()), ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * A `fetch` for a gRPC-web client in binary format. Answers with an end are read whole, within a
 * number of bytes and a deadline; subscriptions are passed on as they come, and end when they are
 * silent for too long. Redirects are refused, because the permission list is meant for one host.
 * It fails with {@linkcode NodeFailure} only, or the reason of the caller's own signal.
 */
export function boundedRpc(bounds: RpcBounds): typeof fetch {
  return async (input, init) => {
    const own = init?.signal ?? undefined;
    own?.throwIfAborted();
    const address = input instanceof Request ? input.url : String(input);
    const countdown = new Countdown(bounds.timeoutMs);
    const signal = own ? AbortSignal.any([own, countdown.signal]) : countdown.signal;
    try {
      const response = await fetch(input, { ...init, redirect: "error", signal });
      if (!response.ok) {
        await response.body?.cancel();
        throw refusal(response);
      }
      if (new URL(address).pathname.includes(ENDLESS)) {
        return passedOn(response, countdown, bounds, own);
      }
      const bytes = await readCapped(response, bounds.maxBytes);
      countdown.stop();
      return new Response(bytes, { status: response.status, headers: response.headers });
    } catch (thrown) {
      countdown.stop();
      throw failureOf(thrown, countdown, own);
    }
  };
}

/** What a caller may see of anything thrown meanwhile. */
function failureOf(thrown: unknown, countdown: Countdown, own?: AbortSignal): unknown {
  if (own?.aborted) return own.reason;
  if (countdown.signal.aborted) return countdown.signal.reason;
  return thrown instanceof NodeFailure ? thrown : unreachable(thrown);
}

async function readCapped(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** Follows the lengths of messages, so that none is collected that is too long. */
class MessageLengths {
  readonly #max: number;
  #prefix = 0;
  #length = 0;
  #left = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws {AnswerTooLarge} */
  follow(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, chunk.length - at);
        this.#left -= step;
        at += step;
        continue;
      }
      if (this.#prefix > 0) this.#length = this.#length * 256 + chunk[at]!;
      at++;
      if (++this.#prefix < PREFIX_BYTES) continue;
      if (this.#length > this.#max) throw new AnswerTooLarge();
      this.#left = this.#length;
      this.#length = this.#prefix = 0;
    }
  }
}

/** A subscription's answer, whose silence and messages are bounded. */
function passedOn(
  response: Response,
  countdown: Countdown,
  { idleMs, maxBytes }: RpcBounds,
  own: AbortSignal | undefined,
): Response {
  const reader = response.body?.getReader();
  const lengths = new MessageLengths(maxBytes);
  countdown.restart(idleMs);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader?.read() ?? { done: true, value: undefined };
        if (done) {
          countdown.stop();
          return controller.close();
        }
        lengths.follow(value);
        countdown.restart(idleMs);
        controller.enqueue(value);
      } catch (thrown) {
        countdown.stop();
        controller.error(failureOf(thrown, countdown, own));
        await reader?.cancel().catch(() => undefined);
      }
    },
    async cancel() {
      countdown.stop();
      await reader?.cancel().catch(() => undefined);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

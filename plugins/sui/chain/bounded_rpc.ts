import { Deadline } from "../../../src/deadline.ts";
import { GatheredBytes } from "../../../src/wire/body/read_body.ts";
import { AnswerTooLarge, late, NodeFailure, refusal, unreachable } from "./node_failure.ts";

/** Bounds of every exchange with a node. */
interface RpcBounds {
  /** Longest wait for a whole answer, or for the start of a subscription, in milliseconds. */
  readonly timeoutMs: number;
  /** Most bytes of an answer, or of one message of a subscription. */
  readonly maxBytes: number;
  /** Longest silence of a subscription in milliseconds. */
  readonly idleMs: number;
}

/** Path of calls that go on until somebody ends them. */
const ENDLESS = "/sui.rpc.v2.SubscriptionService/";

/** Bytes in front of a gRPC-web message: a flag, and the length as u32, big-endian. */
const PREFIX_BYTES = 5;

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

function readerOf(response: Response): Reader {
  return (response.body ?? new Blob().stream()).getReader();
}

function drop(reader: Reader): void {
  void reader.cancel().catch(() => undefined);
}

/**
 * A `fetch` for a gRPC-web client in binary format. It reads answers whole, within a number of bytes
 * and a deadline, but passes subscriptions on as they come, and ends those that are silent for too
 * long. It refuses redirects, because the permission list is meant for one host, and fails only with
 * {@linkcode NodeFailure} or the reason of the caller's own signal.
 */
export function boundedRpc(bounds: RpcBounds): typeof fetch {
  return async (input, init) => {
    const own = init?.signal ?? undefined;
    own?.throwIfAborted();
    const address = input instanceof Request ? input.url : String(input);
    const deadline = new Deadline(bounds.timeoutMs, own, late);
    const { signal } = deadline;
    try {
      const answer = fetch(input, { ...init, redirect: "error", signal });
      // An answer that comes too late must be closed.
      answer.then((tardy) => signal.aborted ? drop(readerOf(tardy)) : undefined, () => {});
      // The deadline itself also ends the wait: in Deno the signal given to `fetch` no longer ends the
      // reading of a body once its `Response` was garbage collected.
      const response = await deadline.wait(answer);
      if (!response.ok) {
        drop(readerOf(response));
        throw refusal(response);
      }
      if (new URL(address).pathname.includes(ENDLESS)) return passedOn(response, deadline, bounds);
      const bytes = await readCapped(response, deadline, bounds);
      deadline.close();
      return new Response(bytes, { status: response.status, headers: response.headers });
    } catch (thrown) {
      deadline.close();
      throw failureOf(thrown, signal);
    }
  };
}

/** The error that callers get for anything thrown. */
function failureOf(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return thrown instanceof NodeFailure ? thrown : unreachable(thrown);
}

async function readCapped(
  response: Response,
  deadline: Deadline,
  { maxBytes }: RpcBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const gathered = new GatheredBytes();
  const reader = readerOf(response);
  try {
    for (;;) {
      const { done, value } = await deadline.wait(reader.read());
      if (done) break;
      if (gathered.length + value.length > maxBytes) throw new AnswerTooLarge();
      await gathered.add(value);
    }
  } catch (thrown) {
    drop(reader);
    throw thrown;
  }
  return gathered.bytes;
}

/** Follows the lengths of messages, to refuse one that is too long before it is collected. */
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

/** Passes a subscription on; bounds its silence and its messages. */
function passedOn(response: Response, deadline: Deadline, bounds: RpcBounds): Response {
  const reader = readerOf(response);
  const lengths = new MessageLengths(bounds.maxBytes);
  const { signal } = deadline;
  deadline.restart(bounds.idleMs);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const end = () => {
        deadline.close();
        controller.error(signal.reason);
        drop(reader);
      };
      signal.addEventListener("abort", end, { once: true });
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) {
          lengths.follow(value);
          deadline.restart(bounds.idleMs);
          return controller.enqueue(value);
        }
        deadline.close();
        controller.close();
      } catch (thrown) {
        if (signal.aborted) return;
        deadline.close();
        controller.error(failureOf(thrown, signal));
        drop(reader);
      }
    },
    cancel() {
      deadline.close();
      drop(reader);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

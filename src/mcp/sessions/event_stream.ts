/** Bytes that may wait for a client that does not read, in one stream: 1 MiB. */
export const QUEUE_BYTES = 1_048_576;

/** Headers of an event stream; nothing on the way may hold it back or change it. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
const KEEPALIVE = encoder.encode(":keepalive\n\n");

interface EventStreamOptions {
  /** Time until the first sign of life in milliseconds; 0 sends it at once. */
  readonly firstKeepaliveMs: number;
  /** Pause between signs of life in milliseconds. */
  readonly keepaliveMs: number;
  /** Called once when the stream has ended, whoever ended it. */
  readonly onEnd: () => void;
}

/**
 * An event stream with signs of life. A client that does not read is cut off: once 1 MiB waits,
 * the next write ends the stream.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: EventStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => this.#end(),
    }, new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES }));
    this.#timer = setTimeout(() => this.#beat(), options.firstKeepaliveMs);
  }

  /** What answers a request with it. */
  response(headers?: Readonly<Record<string, string>>): Response {
    return new Response(this.body, { headers: { ...HEADERS, ...headers } });
  }

  /** Whether it can still be written to. */
  get open(): boolean {
    return this.#controller !== undefined;
  }

  /** Sends one event; line ends inside its data would break the framing, JSON has none. */
  event(name: string, data: string): void {
    this.write(encoder.encode(`event: ${name}\ndata: ${data}\n\n`));
  }

  write(bytes: Uint8Array): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    if ((controller.desiredSize ?? 0) <= 0) {
      controller.error(new Error("The client does not read"));
      return this.#end();
    }
    controller.enqueue(bytes);
  }

  /** Ends the stream; what was written is still delivered. */
  close(): void {
    this.#controller?.close();
    this.#end();
  }

  #beat(): void {
    this.write(KEEPALIVE);
    if (this.open) this.#timer = setTimeout(() => this.#beat(), this.#options.keepaliveMs);
  }

  #end(): void {
    clearTimeout(this.#timer);
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#options.onEnd();
  }
}

/** Gives another event stream signs of life and a bounded queue. */
export function guardStream(
  source: ReadableStream<Uint8Array>,
  options: Omit<EventStreamOptions, "onEnd">,
): EventStream {
  const reader = source.getReader();
  const stream = new EventStream({
    ...options,
    onEnd: () => void reader.cancel().catch(() => {}),
  });
  void (async () => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        stream.write(value);
        if (!stream.open) return;
      }
    } catch {
      // The source broke: its client sees the end of the stream.
    }
    stream.close();
  })();
  return stream;
}

/** Why a stream ended before its time. */
export type StreamFailure = "broken" | "stalled";

const REASONS: Readonly<Record<StreamFailure, string>> = {
  broken: "The sidecar broke off its answer",
  stalled: "The client does not read",
};

interface RelayedStreamOptions {
  /** Longest time a client may leave a sent piece unread, milliseconds. */
  readonly stallMs: number;
  /**
   * Whether the stream may end at any point, as event streams may: a reader drops an unfinished
   * event. Any other body that breaks must be seen to break.
   */
  readonly endsAnywhere: boolean;
  /** Called once at the end, whatever the reason; tells the other side to stop. */
  readonly onEnd: (failure?: StreamFailure) => void;
}

/** A body on its way through the relayer. */
export interface RelayedStream {
  /** What the client reads. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Ends the body as if the other side had ended it. */
  end(): void;
}

/**
 * Passes a body on piece by piece. A piece is fetched only when the client took the one before, so
 * that a client that does not read holds one piece here, and the rest waits where it is made.
 */
export function relayedStream(
  upstream: AsyncIterator<Uint8Array>,
  options: RelayedStreamOptions,
): RelayedStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let stall: ReturnType<typeof setTimeout> | undefined;
  let ended = false;

  function finish(failure?: StreamFailure): void {
    clearTimeout(stall);
    if (ended) return;
    ended = true;
    if (failure === undefined || options.endsAnywhere) controller.close();
    // The server prints what a body ends with to standard error: a sentence instead of a stack.
    else controller.error(REASONS[failure]);
    options.onEnd(failure);
  }

  const readable = new ReadableStream<Uint8Array>({
    start(made) {
      controller = made;
    },
    async pull() {
      clearTimeout(stall);
      try {
        const { done, value } = await upstream.next();
        if (ended) return;
        if (done) return finish();
        // Before the piece is handed over: a client that is gone cancels within that call.
        stall = setTimeout(() => finish("stalled"), options.stallMs);
        controller.enqueue(value);
      } catch {
        finish("broken");
      }
    },
    cancel() {
      clearTimeout(stall);
      if (ended) return;
      ended = true;
      options.onEnd();
    },
  }, { highWaterMark: 0 });

  return { readable, end: () => finish() };
}

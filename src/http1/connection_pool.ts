import type { HttpConnection, WireAnswer, WireRequest } from "./http_connection.ts";

export interface PooledAnswer extends WireAnswer {
  /** To be called once the body has been read, or is not wanted any more. */
  close(): void;
}

/** Idle connections that are kept. */
const MAX_IDLE = 128;

/** Connections to one server, each for one request at a time, kept open in between. */
export class ConnectionPool implements Disposable {
  readonly #connect: () => Promise<HttpConnection>;
  readonly #idle: HttpConnection[] = [];
  #disposed = false;

  /** Connects at the first request. */
  constructor(connect: () => Promise<HttpConnection>) {
    this.#connect = connect;
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @throws {Error} when nobody answers; the signal's reason when it is aborted.
   */
  async send(request: WireRequest, signal: AbortSignal): Promise<PooledAnswer> {
    signal.throwIfAborted();
    const connection = this.#idle.pop() ?? await this.#connect();
    const cut = () => connection.close();
    signal.addEventListener("abort", cut);
    if (signal.aborted) cut();
    try {
      const answer = await connection.send(request);
      let isRead = answer.body === undefined || answer.whole !== undefined;
      let isClosed = false;
      return {
        ...answer,
        body: answer.body && noticeEnd(answer.body, () => isRead = true),
        close: () => {
          if (isClosed) return;
          isClosed = true;
          if (isRead) this.#keep(connection);
          else connection.close();
        },
      };
    } catch (error) {
      connection.close();
      // Else a caller that gave up would look like a server that failed.
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", cut);
    }
  }

  /** Closes what is idle, and everything else once it is done. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #keep(connection: HttpConnection): void {
    if (this.#disposed || !connection.isReusable || this.#idle.length >= MAX_IDLE) {
      return connection.close();
    }
    this.#idle.push(connection);
    void this.#dropWhenGone(connection);
  }

  async #dropWhenGone(connection: HttpConnection): Promise<void> {
    await connection.untilGone();
    const at = this.#idle.indexOf(connection);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    connection.close();
  }
}

async function* noticeEnd(
  body: AsyncIterator<Uint8Array>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array, void> {
  for (let piece = await body.next(); !piece.done; piece = await body.next()) yield piece.value;
  onEnd();
}

import { answerChallenge, isSameSecret } from "./challenge.ts";
import { HttpConnection, type WireAnswer, type WireRequest } from "./http_connection.ts";

/** Where the sidecar is and what proves it. */
export interface SidecarAddress {
  /** Loopback address, `http://127.0.0.1:9000`. */
  readonly url: string;
  /** Secret shared with it, at least 16 visible ASCII characters. */
  readonly token: string;
}

/** The sidecar's answer to one request. */
export interface SidecarAnswer extends WireAnswer {
  /** To be called once the body has been read, or is not wanted any more. */
  close(): void;
}

const CHALLENGE_MS = 1000;
/** Idle connections that are kept. */
const MAX_IDLE = 128;

/**
 * Connections to the sidecar. Each is challenged when it is made and belongs to one process for its
 * whole life, so that nothing secret is ever sent to whoever takes the port of a sidecar that died;
 * a client that connects anew without a word could not promise that.
 */
export class SidecarLink implements Disposable {
  readonly #url: string;
  readonly #token: string;
  readonly #idle: HttpConnection[] = [];
  #disposed = false;

  /** Connects at the first request. */
  constructor({ url, token }: SidecarAddress) {
    this.#url = url;
    this.#token = token;
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @throws {Error} when nobody answers, or whoever does cannot prove that it is the sidecar; when
   * the signal is aborted.
   */
  async send(request: WireRequest, signal: AbortSignal): Promise<SidecarAnswer> {
    signal.throwIfAborted();
    const connection = this.#idle.pop() ?? await this.#connect();
    const cut = () => connection.close();
    signal.addEventListener("abort", cut);
    if (signal.aborted) cut();
    try {
      const answer = await connection.send(request);
      let isRead = false;
      return {
        ...answer,
        body: answer.body && noticeEnd(answer.body, () => isRead = true),
        close: () => {
          if (isRead || answer.body === undefined) this.#keep(connection);
          else connection.close();
        },
      };
    } catch (error) {
      connection.close();
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

  async #connect(): Promise<HttpConnection> {
    const connection = await HttpConnection.open(this.#url);
    const late = setTimeout(() => connection.close(), CHALLENGE_MS);
    try {
      if (await isAnswered(connection, this.#token) && connection.isReusable) return connection;
    } catch {
      // Told below, like a wrong answer.
    } finally {
      clearTimeout(late);
    }
    connection.close();
    throw new Error("The listener at SIDECAR_URL is not the sidecar");
  }
}

async function* noticeEnd(
  body: AsyncIterator<Uint8Array>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array, void> {
  for (let piece = await body.next(); !piece.done; piece = await body.next()) yield piece.value;
  onEnd();
}

/** Whether the other end answers a fresh nonce under the token. */
async function isAnswered(connection: HttpConnection, token: string): Promise<boolean> {
  const nonce = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const { status, body } = await connection.send({
    method: "POST",
    target: "/challenge",
    headers: new Headers({ "content-type": "application/json" }),
    body: new TextEncoder().encode(JSON.stringify({ nonce })),
  });
  let answer = "";
  while (answer.length <= 64) {
    const piece = await body?.next();
    if (piece === undefined || piece.done) {
      return status === 200 && isSameSecret(answer, answerChallenge(token, nonce));
    }
    answer += new TextDecoder("latin1").decode(piece.value);
  }
  return false;
}

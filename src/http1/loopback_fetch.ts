import { ConnectionPool, HttpConnection, type PooledAnswer } from "./http_connection.ts";

/** The part of `fetch` that is needed for a server on this machine. */
type LoopbackFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * `fetch` for one server on this machine, over kept connections. The platform's takes several times
 * the memory and the time of these calls, and would follow a proxy's settings.
 *
 * @param origin `http://127.0.0.1:port`.
 * @param connect Makes a connection there; by default one that nobody proves.
 */
export function loopbackFetch(
  origin: string,
  connect: () => Promise<HttpConnection> = () => HttpConnection.open(origin),
): LoopbackFetch & Disposable {
  const pool = new ConnectionPool(connect);
  return Object.assign(fetchOver(pool), { [Symbol.dispose]: () => pool[Symbol.dispose]() });
}

/** `fetch` over the connections of a pool, wherever a URL points. */
export function fetchOver(pool: Pick<ConnectionPool, "send">): LoopbackFetch {
  return async (url, init) => {
    const { pathname, search } = new URL(url);
    const signal = init.signal ?? new AbortController().signal;
    const answer = await pool.send({
      method: init.method ?? "GET",
      target: pathname + search,
      headers: pairsOf(init.headers ?? []),
      body: init.body instanceof Uint8Array ? init.body : undefined,
    }, signal);
    const { status, headers } = answer;
    if (status >= 300 && status < 400) {
      answer.close();
      throw new TypeError("The relayer does not redirect");
    }
    return new Response(bodyOf(answer, signal), { status, headers: [...headers] });
  };
}

/** Headers as they were given. */
function pairsOf(headers: HeadersInit): Iterable<readonly [string, string]> {
  if (Symbol.iterator in headers) return headers as Iterable<[string, string]>;
  return Object.entries(headers);
}

/** The body; a signal that is aborted breaks it. */
function bodyOf(answer: PooledAnswer, signal: AbortSignal): BodyInit | null {
  const { body, whole } = answer;
  function end(): void {
    signal.removeEventListener("abort", answer.close);
    answer.close();
  }
  if (body === undefined || whole !== undefined) {
    end();
    return whole as Uint8Array<ArrayBuffer> | undefined ?? null;
  }
  signal.addEventListener("abort", answer.close);
  if (signal.aborted) answer.close();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await body.next();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

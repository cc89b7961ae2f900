/** A request as it goes out, with its signature. */
export interface SignedRequest {
  readonly url: string;
  readonly init: RequestInit;
}

/**
 * Sends what the page's client signs, or hands it over unsent: when a page is left there is no time
 * to sign.
 */
export class Outbox {
  readonly #wanted = new Map<string, (request: SignedRequest) => void>();

  /** As `fetch`, for the client. */
  send(url: string, init: RequestInit): Promise<Response> {
    const name = `${init.method} ${new URL(url).pathname}`;
    const take = this.#wanted.get(name);
    if (take === undefined) return fetch(url, init);
    this.#wanted.delete(name);
    take({ url, init });
    return Promise.reject(new Error("Not sent"));
  }

  /**
   * Signs a request without sending it.
   *
   * @param name Its method and path, such as `DELETE /api/memories/1`.
   * @param use Calls the client for it.
   * @throws what signing throws.
   */
  async sign(name: string, use: () => Promise<unknown>): Promise<SignedRequest> {
    const { promise, resolve, reject } = Promise.withResolvers<SignedRequest>();
    this.#wanted.set(name, resolve);
    // Once it is handed over the promise is settled, and what the client makes of it does not count.
    use().then(() => reject(new Error("Not signed")), reject).finally(() =>
      this.#wanted.delete(name)
    );
    return await promise;
  }
}

/** Sends a signed request while the page is being left; nobody is there for the answer. */
export function sendAtOnce({ url, init }: SignedRequest): void {
  const { method, headers } = init;
  void fetch(url, {
    ...(method === undefined ? {} : { method }),
    ...(headers === undefined ? {} : { headers }),
    keepalive: true,
  }).catch(() => undefined);
}

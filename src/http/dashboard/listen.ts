import { type HttpListener, listenHttp } from "../../http1/http_listener.ts";
import { answerWeb, type WebOptions } from "./answer.ts";

/** Both names a browser may try for `localhost`. */
export const WEB_HOSTS = ["127.0.0.1", "::1"] as const;

export interface Dashboard {
  readonly port: number;
  /** Ends it once the answers under way are given, at the latest after so many milliseconds. */
  shutdown(ms: number): Promise<void>;
}

/**
 * Serves the dashboard on both loopback addresses: `localhost` means either, and a stranger on the
 * other one would be taken for it.
 *
 * @param onError Notes why an answer or a connection failed.
 * @throws what the platform throws, as when another program has the port on one of them.
 */
export function listenWeb(
  port: number,
  options: WebOptions,
  onError: (thrown: unknown) => void,
): Dashboard {
  const listeners: HttpListener[] = [];
  const shutdown = async (ms: number) => {
    await Promise.all(listeners.map((listener) => listener.shutdown(ms)));
  };
  for (const hostname of WEB_HOSTS) {
    try {
      listeners.push(listenHttp({
        hostname,
        port,
        answer: (request) => Promise.resolve(answerWeb(request, options)),
        onError,
      }));
    } catch (error) {
      // A machine without IPv6 has one loopback address.
      if (hostname === "::1" && !(error instanceof Deno.errors.AddrInUse)) {
        continue;
      }
      void shutdown(0);
      throw error;
    }
  }
  return { port, shutdown };
}

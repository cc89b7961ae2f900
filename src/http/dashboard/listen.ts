import { answerWeb, type WebOptions } from "./answer.ts";

/** Both names a browser may try for `localhost`. */
export const WEB_HOSTS = ["127.0.0.1", "::1"] as const;

export interface Dashboard {
  readonly port: number;
  /** Ends it once the answers under way are given. */
  shutdown(): Promise<void>;
}

/**
 * Serves the dashboard on both loopback addresses: `localhost` means either, and a stranger on the
 * other one would be taken for it.
 *
 * Throws what `Deno.serve` throws, as when another program has the port on one of them.
 */
export function listenWeb(port: number, options: WebOptions): Dashboard {
  const servers: Deno.HttpServer<Deno.NetAddr>[] = [];
  const close = () => Promise.all(servers.map((server) => server.shutdown()));
  for (const hostname of WEB_HOSTS) {
    try {
      servers.push(Deno.serve(
        { hostname, port, onListen() {} },
        (request) => answerWeb(request, options),
      ));
    } catch (error) {
      // A machine without IPv6 has one loopback address.
      if (hostname === "::1" && !(error instanceof Deno.errors.AddrInUse)) {
        continue;
      }
      void close();
      throw error;
    }
  }
  return { port, shutdown: async () => void await close() };
}

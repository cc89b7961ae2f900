import { errorFields, type Logger } from "../log.ts";
import { SvcError } from "../errors.ts";
import { type HttpListener, INTERNAL_LIMITS, listenHttp } from "../http1/http_listener.ts";
import type { Relayer } from "../relayer.ts";
import { inRanges, isLoopback, limitKey } from "../wire/ip_addresses.ts";
import { listenFailure } from "./listen_failure.ts";
import type { Settings } from "./settings/mod.ts";

function noting(logger: Logger): (thrown: unknown) => void {
  return (thrown) => {
    const { error, at } = errorFields(thrown);
    logger.error("listener failed", { error, at });
  };
}

/**
 * Listens for clients.
 *
 * @throws {SvcError} `invalid_parameter` when the address cannot be had.
 */
export function listenPublicly(
  settings: Settings,
  relayer: Pick<Relayer, "fetch">,
  logger: Logger,
): HttpListener {
  const { host, port, behindProxy } = settings;
  try {
    return listenHttp({
      hostname: host,
      port,
      answer: relayer.fetch,
      onError: noting(logger),
      limits: {
        connections: settings.maxConnections,
        connectionsPerNetwork: settings.maxConnectionsPerAddress,
      },
      networkOf: (address) => ({
        key: limitKey(address),
        // Many clients come from there.
        isBounded: !isLoopback(address) && !inRanges(address, behindProxy),
      }),
    });
  } catch (cause) {
    throw listenFailure(host, port, cause) ?? cause;
  }
}

/**
 * Answers the sidecar's calls; whatever the client, they come from this machine.
 *
 * @throws {SvcError} `overloaded` when somebody else has the port.
 */
export function listenInternally(
  url: string,
  relayer: Pick<Relayer, "fetchInternal">,
  logger: Logger,
): HttpListener {
  const { hostname, port } = new URL(url);
  try {
    return listenHttp({
      hostname,
      port: Number(port),
      answer: relayer.fetchInternal,
      onError: noting(logger),
      limits: INTERNAL_LIMITS,
    });
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    // May pass: the launcher tries again, and the port can be free by then.
    throw new SvcError("overloaded", `The internal address ${url} is in use`, { cause });
  }
}

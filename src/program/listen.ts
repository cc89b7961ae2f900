import { errorFields, type Logger } from "../log.ts";
import { SvcError } from "../errors.ts";
import {
  type Certificate,
  type HttpListener,
  INTERNAL_LIMITS,
  listenHttp,
} from "../http1/http_listener.ts";
import {
  certificateFailure,
  readCertificate,
  warnOfOpenKey,
  watchCertificate,
} from "./certificate.ts";
import { isOfThisMachine } from "./settings/checks.ts";
import { proving } from "../http1/mutual_proof.ts";
import type { Relayer } from "../relayer.ts";
import { inRanges, isLoopback, limitKey } from "../wire/ip_addresses.ts";
import { listenFailure } from "./listen_failure.ts";
import type { Settings } from "./settings/mod.ts";
import { formatHost, urlHost } from "./settings/parsers.ts";

function noting(logger: Logger): (thrown: unknown) => void {
  return (thrown) => {
    const { error, at } = errorFields(thrown);
    logger.error("listener failed", { error, at });
  };
}

/** Tells browsers to come by TLS only; of this machine's names that would mean other programs too. */
const HSTS = "strict-transport-security: max-age=31536000\r\n";

/** Where clients come. */
interface PublicListener extends Pick<HttpListener, "port" | "shutdown" | "closeAfterAnswers"> {
  /** Address for programs of this machine. */
  readonly address: string;
}

/**
 * Listens for clients, with TLS where there is a certificate, and tells the relayer where that is.
 *
 * @throws {SvcError} `invalid_parameter` when the address or the certificate cannot be had.
 */
export async function listenPublicly(
  settings: Settings,
  relayer: Pick<Relayer, "fetch" | "listensAt" | "isKnownNetwork">,
  logger: Logger,
): Promise<PublicListener> {
  const certificate = await readCertificate(settings);
  await warnOfOpenKey(settings, logger);
  const listener = listen(settings, relayer, logger, certificate);
  const { port } = listener;
  const watch = certificate && watchCertificate(settings, certificate, listener, logger);
  const scheme = certificate === undefined ? "http" : "https";
  relayer.listensAt(`${scheme}://${urlHost(settings.host)}:${port}`);
  return {
    port,
    address: `${scheme}://${formatHost(settings.host)}:${port}`,
    closeAfterAnswers: () => listener.closeAfterAnswers(),
    shutdown(ms) {
      watch?.[Symbol.dispose]();
      return listener.shutdown(ms);
    },
  };
}

function listen(
  settings: Settings,
  relayer: Pick<Relayer, "fetch" | "isKnownNetwork">,
  logger: Logger,
  certificate: Certificate | undefined,
): HttpListener {
  const { host, port, publicUrl, behindProxy } = settings;
  const isNamed = certificate !== undefined && publicUrl !== undefined;
  try {
    return listenHttp({
      hostname: host,
      port,
      answer: relayer.fetch,
      onError: noting(logger),
      certificate,
      lines: isNamed && !isOfThisMachine(publicUrl) ? HSTS : "",
      limits: {
        connections: settings.maxConnections,
        connectionsPerNetwork: settings.maxConnectionsPerAddress,
      },
      isKnown: (network) => relayer.isKnownNetwork(network),
      networkOf: (address) => ({
        key: limitKey(address),
        // Many clients come from there.
        isBounded: !isLoopback(address) && !inRanges(address, behindProxy),
      }),
    });
  } catch (cause) {
    throw listenFailure(host, port, cause) ??
      (certificate === undefined ? cause : certificateFailure(cause));
  }
}

/**
 * Answers the sidecar's calls; whatever the client, they come from this machine.
 *
 * @param token What the sidecar proves itself with; without one nobody can.
 * @throws {SvcError} `overloaded` when somebody else has the port.
 */
export function listenInternally(
  url: string,
  token: string | undefined,
  relayer: Pick<Relayer, "fetchInternal">,
  logger: Logger,
): HttpListener {
  const { hostname, port } = new URL(url);
  try {
    return listenHttp({
      hostname,
      port: Number(port),
      answer: token === undefined
        ? (request) => relayer.fetchInternal(request)
        : proving({ token, listens: "relayer" }, relayer.fetchInternal),
      onError: noting(logger),
      limits: INTERNAL_LIMITS,
    });
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    // May pass: the launcher tries again, and the port can be free by then.
    throw new SvcError("overloaded", `The internal address ${url} is in use`, { cause });
  }
}

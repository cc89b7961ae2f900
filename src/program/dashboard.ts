import { SvcError } from "../errors.ts";
import { portFailure } from "./listen_failure.ts";
import { errorFields, type Logger } from "../log.ts";
import { PROGRAM_ROOT } from "./plugins.ts";
import { NODES } from "../wire/networks.ts";
import type { Settings } from "./settings/mod.ts";
import { formatHost } from "./settings/parsers.ts";
import { VERSION } from "../wire/version.ts";
import type { WebOptions } from "../http/dashboard/answer.ts";
import { readWebFiles } from "../http/dashboard/files.ts";
import { type Dashboard, listenWeb } from "../http/dashboard/listen.ts";

interface DashboardOptions extends Pick<WebOptions, "accounts"> {
  readonly settings: Settings;
  readonly relayerPort: number;
  readonly logger: Logger;
}

/** Serves the dashboard, or logs why it cannot: the relayer runs either way. */
export async function openDashboard(
  options: DashboardOptions,
): Promise<Dashboard | undefined> {
  const { settings, relayerPort, accounts, logger } = options;
  const { webPort, webUrl } = settings;
  if (webPort === 0) return undefined;
  const off = (reason: string): undefined => {
    logger.warn("dashboard off", { reason });
    return undefined;
  };
  if (PROGRAM_ROOT.protocol !== "file:") {
    return off("its files are not on this machine");
  }
  const { origin } = new URL(webUrl);
  if (!settings.allowedOrigins.includes(origin)) {
    return off(`SVC_ALLOWED_ORIGINS does not hold the page's origin, ${origin}`);
  }
  try {
    // A Content-Security-Policy cannot name addresses of IPv6.
    const here = settings.host === "::1" ? "localhost" : formatHost(settings.host);
    const relayer = settings.publicUrl ??
      `${settings.tlsCertFile === undefined ? "http" : "https"}://${here}:${relayerPort}`;
    if (new URL(relayer).hostname.startsWith("[")) {
      return off(`a page cannot reach ${relayer}: give it a name in SVC_PUBLIC_URL`);
    }
    const files = await readWebFiles(new URL("web/dist/", PROGRAM_ROOT));
    const dashboard = listenWeb(webPort, {
      webUrl,
      relayerUrl: relayer,
      accounts,
      ...(accounts === "chain" ? { rpcUrl: browserNode(settings) } : {}),
      version: VERSION,
      files,
    }, (thrown) => logger.error("dashboard failed", errorFields(thrown)));
    logger.info("dashboard", { url: webUrl });
    return dashboard;
  } catch (error) {
    const failure = portFailure("SVC_WEB_PORT", "localhost", webPort, error);
    return off((failure ?? SvcError.from(error)).message);
  }
}

/**
 * The node that browsers ask. An address with a path or a query may hold the operator's key to it,
 * and everybody reads what browsers are told: they get the network's public node instead.
 */
export function browserNode(
  { suiNetwork, suiRpcUrl }: Pick<Settings, "suiNetwork" | "suiRpcUrl">,
): string {
  const own = suiRpcUrl === undefined ? null : URL.parse(suiRpcUrl);
  const isPlain = own !== null && own.pathname === "/" && own.search === "" && own.username === "";
  return isPlain ? own.origin : NODES[suiNetwork];
}

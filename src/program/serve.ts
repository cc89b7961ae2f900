import { within } from "../deadline.ts";
import { openDashboard } from "./dashboard.ts";
import { indexBytes } from "../index/budget.ts";
import type { HttpListener } from "../http1/http_listener.ts";
import { DEFAULT_CONFIG, type RelayerConfig } from "../interfaces/config.ts";
import type { Env } from "../interfaces/fields.ts";
import { listenInternally, listenPublicly } from "./listen.ts";
import type { Logger } from "../log.ts";
import { configuredSources } from "./plugins.ts";
import { ensurePrivateFolder } from "../storage/private_file.ts";
import { createRelayer, type Relayer } from "../relayer.ts";
import type { RelayerKey } from "../sealing/relayer_key.ts";
import type { Settings } from "./settings/mod.ts";
import { EMPTY } from "./settings/plugin_settings.ts";
import { noteStrayFailures, onStopSignal } from "./process_events.ts";
import { VERSION } from "../wire/version.ts";
import { welcome } from "./welcome.ts";

interface ServeOptions {
  readonly settings: Settings;
  readonly env: Env;
  readonly key: RelayerKey;
  /** Loopback address where the sidecar's calls are answered; absent when there is none. */
  readonly internalUrl?: string | undefined;
  readonly logger: Logger;
  /** Takes text for the person at the terminal. */
  readonly write: (text: string) => void;
}

/** Kills the process at the named point of the flow, as a power failure would. */
function failAt(name: string | undefined): (point: string) => void {
  if (name === undefined) return DEFAULT_CONFIG.failpoint;
  return (point) => {
    if (point === name) Deno.kill(Deno.pid, "SIGKILL");
  };
}

type Shared = Pick<Settings, keyof Settings & keyof RelayerConfig>;

/** The settings that the configuration has under the same name. */
function sharedBy(settings: Settings): Shared {
  const shared = Object.entries(settings).filter(([name]) => name in DEFAULT_CONFIG);
  return Object.fromEntries(shared) as Shared;
}

/** What the settings mean for a relayer. */
function relayerConfig(settings: Settings): RelayerConfig {
  const { buildCommit, buildTimestamp, testDispatch } = settings;
  return {
    ...DEFAULT_CONFIG,
    ...sharedBy(settings),
    version: VERSION,
    build: {
      ...(buildCommit === undefined ? {} : { commit: buildCommit }),
      ...(buildTimestamp === undefined ? {} : { buildTimestamp }),
    },
    network: settings.suiNetwork,
    trustedProxies: settings.behindProxy,
    defaultAccountId: settings.accountId,
    dispatch: {
      process: testDispatch.includes("process"),
      queue: testDispatch.includes("queue"),
      sweeper: testDispatch.includes("sweeper"),
    },
    rateLimit: {
      keyPerMinute: settings.rateKeyPerMinute,
      accountPerMinute: settings.rateAccountPerMinute,
      accountPerHour: settings.rateAccountPerHour,
      freeReadsPerSecond: settings.rateFreeReadsPerSecond,
      weights: settings.rateWeights,
      disabled: settings.rateDisabled,
    },
    sponsor: {
      perMinute: settings.sponsorPerMinute,
      perHour: settings.sponsorPerHour,
      maxGasMist: settings.sponsorMaxGasMist,
      dailyGasMist: settings.sponsorDailyGasMist,
    },
    indexMemoryBytes: indexBytes(settings.indexMemoryMb * 1024 * 1024),
    failpoint: failAt(settings.failpoint),
  };
}

/** Lets balancers find out that the relayer is about to stop; until they have, it answers all. */
async function tellBalancers(
  relayer: Pick<Relayer, "leave">,
  server: Pick<HttpListener, "closeAfterAnswers">,
  logger: Logger,
  { ms, again }: { readonly ms: number; readonly again: Promise<unknown> },
): Promise<void> {
  logger.info("leaving", { ms });
  relayer.leave();
  server.closeAfterAnswers();
  await within(ms, again);
}

/** The signals that end this process, in the order they came. */
function listenForStop() {
  const stopped = Promise.withResolvers<Deno.Signal>();
  const again = Promise.withResolvers<Deno.Signal>();
  const waiting = [stopped, again];
  const listening = onStopSignal((signal) => waiting.shift()?.resolve(signal));
  return {
    stopped: stopped.promise,
    again: again.promise,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

/**
 * Takes the data directory, opens everything in it and serves until SIGINT or SIGTERM; at SIGTERM
 * tells balancers for `SVC_DRAIN_SECONDS`, or until the next signal, and finishes what is under way
 * within `SVC_SHUTDOWN_SECONDS`.
 *
 * @throws {SvcError} `invalid_parameter` when the directory or the address cannot be had, the directory
 * belongs to another relayer key, or a plugin cannot be opened.
 */
export async function serveRelayer(options: ServeOptions): Promise<void> {
  const { settings, env, key, logger } = options;
  const { dataDir } = settings;
  using _stray = noteStrayFailures(logger);
  for (const warning of await ensurePrivateFolder(dataDir)) {
    logger.warn("data directory", { reason: warning });
  }
  const token = settings.sidecarToken?.reveal();
  await using relayer = await createRelayer({
    dataDir,
    relayerKey: Uint8Array.fromHex(key.reveal()),
    relayerKeySource: settings.keyFile ?? settings.keyPassphraseFile ?? "SVC_RELAYER_KEY_COMMAND",
    // The sponsor's key is the sidecar's alone.
    backends: await configuredSources({ ...settings, sponsor: EMPTY.sponsor ?? "" }, env),
    config: relayerConfig(settings),
    logger,
    ...(token === undefined ? {} : { sidecar: { url: settings.sidecarUrl, token } }),
    sidecarSponsors: settings.sponsor !== EMPTY.sponsor,
  });

  using signals = listenForStop();
  const internal = options.internalUrl === undefined
    ? undefined
    : listenInternally(options.internalUrl, token, relayer, logger);
  const server = await listenPublicly(settings, relayer, logger);
  logger.info("listening", {
    host: settings.host,
    port: server.port,
    version: VERSION,
  });
  const { admin } = relayer.backends.accounts;
  const dashboard = await openDashboard({
    settings,
    relayerPort: server.port,
    accounts: admin === undefined ? "chain" : "local",
    logger,
  });
  const accounts = await admin?.list();
  if (accounts?.length === 0) {
    options.write(welcome(settings, env, server.address, dashboard && settings.webUrl));
  }

  const signal = await signals.stopped;
  const ends = { ms: settings.drainSeconds * 1000, again: signals.again };
  // A terminal's signal reaches the sidecar at once as well, and nobody balances there.
  if (ends.ms > 0 && signal !== "SIGINT") await tellBalancers(relayer, server, logger, ends);
  logger.info("shutting down", { signal });
  const ms = settings.shutdownSeconds * 1000;
  const closed = Promise.all([
    server.shutdown(ms),
    internal?.shutdown(ms),
    dashboard?.shutdown(ms),
  ]);
  await relayer.drain(ms);
  await closed;
  logger.info("stopped");
}

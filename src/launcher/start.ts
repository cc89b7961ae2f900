import type { Env } from "../fields.ts";
import type { Logger } from "../log.ts";
import { loadRelayerKey, runCommand } from "../relayer_key_source.ts";
import type { Settings } from "../settings.ts";
import type { SidecarBoot } from "../sidecar/process.ts";
import { onStopSignal } from "../stop_signal.ts";
import { EXIT_CONFIG, type RelayerBoot, relayerEnvironment } from "./boot.ts";
import { childEnvironment, childSpec } from "./child_spec.ts";
import {
  isWithoutRemoteModules,
  permissionFlags,
  relayerPermissions,
  sidecarPermissions,
} from "./permissions.ts";
import type { Prepared } from "./prepare.ts";
import { Supervisor } from "./supervisor.ts";

/** Time the relayer gets beyond its own drain time before it is killed, milliseconds. */
const MARGIN_MS = 2000;

/** The permission lists of both processes, one flag a line. */
export function printPermissions({ settings, castings }: Prepared, env: Env): string {
  const lines = ["relayer", ...permissionFlags(relayerPermissions(settings, castings, env))];
  if (settings.sidecarAutostart) {
    lines.push("sidecar", ...permissionFlags(sidecarPermissions(settings)));
  }
  return lines.map((line) => line.startsWith("--") ? `  ${line}\n` : `${line}\n`).join("");
}

/** Replaces port 0 of the sidecar's address by a free one, since two processes must know it. */
function withSidecarPort(settings: Settings): Settings {
  const url = new URL(settings.sidecarUrl);
  if (url.port !== "0") return settings;
  using listener = Deno.listen({ hostname: url.hostname.replace(/^\[|\]$/g, ""), port: 0 });
  return { ...settings, sidecarUrl: `http://${url.hostname}:${listener.addr.port}` };
}

/**
 * Runs the relayer and the sidecar as children with exactly the permissions each needs, until a
 * signal or a start that cannot succeed.
 *
 * @returns the relayer's exit code.
 * @throws {SvcError} `invalid_parameter` when there is no usable relayer key.
 */
export async function runLauncher(prepared: Prepared, env: Env, logger: Logger): Promise<number> {
  const settings = withSidecarPort(prepared.settings);
  const { castings, pluginVariables } = prepared;
  for (const warning of prepared.warnings) logger.warn("settings", { reason: warning });
  const { key, warnings } = await loadRelayerKey(settings, runCommand);
  for (const warning of warnings) logger.warn("relayer key", { reason: warning });

  const token = settings.sidecarToken?.reveal() ??
    crypto.getRandomValues(new Uint8Array(32)).toHex();
  const noRemote = isWithoutRemoteModules(castings);
  const relayerBoot: RelayerBoot = {
    env: {
      ...relayerEnvironment(env, settings, pluginVariables),
      SIDECAR_URL: settings.sidecarUrl,
      ...(settings.sidecarAutostart ? { SIDECAR_AUTH_TOKEN: token } : {}),
    },
    relayerKey: key.reveal(),
  };
  const relayer = new Supervisor(
    childSpec({
      command: "serve",
      permissions: relayerPermissions(settings, castings, env),
      env: childEnvironment(env, { proxies: true }),
      boot: JSON.stringify(relayerBoot),
      noRemote,
    }),
    { logger },
  );
  const { sidecarUrl: url, logLevel, logFormat } = settings;
  const sidecarBoot: SidecarBoot = { url, token, logLevel, logFormat };
  const sidecar = new Supervisor(
    childSpec({
      command: "sidecar",
      permissions: sidecarPermissions(settings),
      env: childEnvironment(env, { proxies: false }),
      boot: JSON.stringify(sidecarBoot),
      noRemote: isWithoutRemoteModules([]),
    }),
    { logger },
  );

  const graceMs = settings.shutdownSeconds * 1000 + MARGIN_MS;
  using _signals = onStopSignal((signal) => {
    // A terminal signals every process at once: the sidecar may be gone before the relayer is.
    sidecar.startNoMore();
    void relayer.stop(signal, graceMs);
  });
  const sidecarRun = settings.sidecarAutostart ? sidecar.run() : Promise.resolve(0);
  const code = await relayer.run();
  // The relayer drains through the sidecar, so the sidecar goes last.
  await sidecar.stop("SIGTERM", MARGIN_MS);
  await sidecarRun;
  if (code === EXIT_CONFIG) logger.error("the relayer cannot start with these settings");
  return code;
}

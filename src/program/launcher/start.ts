import type { Env } from "../../interfaces/fields.ts";
import { SvcError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import type { RelayerKey } from "../../sealing/relayer_key.ts";
import { pluginPermissions, pluginVariables } from "../plugins.ts";
import { loadRelayerKey, runCommand } from "../key_source.ts";
import { type Settings, stopSeconds, withWholePaths } from "../settings/mod.ts";
import { onStopSignal } from "../process_events.ts";
import { startBackups } from "./backups.ts";
import { noteLauncher } from "../background/running.ts";
import { chooseAddresses } from "./addresses.ts";
import { EXIT_CONFIG, type RelayerBoot, relayerEnvironment, sidecarBoot } from "./boot.ts";
import { childSpec } from "./child_spec.ts";
import {
  permissionFlags,
  type PermissionList,
  relayerPermissions,
  sidecarPermissions,
} from "./permissions.ts";
import { type Parted, partPlugins, type Prepared } from "./prepare.ts";
import { Supervisor } from "./supervisor.ts";

/**
 * Time the relayer gets beyond its own drain time before it is killed, milliseconds: a second each to
 * put jobs down and to pack the index, and two for the checkpoints of its files.
 */
const MARGIN_MS = 5000;

async function permissionLists(
  settings: Settings,
  parted: Parted,
  env: Env,
  internalUrl: string | undefined,
): Promise<{ readonly relayer: PermissionList; readonly sidecar: PermissionList }> {
  const paths = withWholePaths(env, settings);
  const asked = await pluginPermissions(parted.relayer, paths, settings.dataDir);
  const askedOfSidecar = await pluginPermissions(parted.sidecar, env, "");
  return {
    relayer: relayerPermissions(settings, parted.relayer, asked, internalUrl),
    sidecar: sidecarPermissions(settings, parted.sidecar, askedOfSidecar),
  };
}

/** The permission lists of both processes, one flag a line. */
export async function printPermissions(
  { settings, castings }: Prepared,
  env: Env,
): Promise<string> {
  // The port of the internal listener is chosen at each start.
  const internal = settings.sidecarAutostart ? "http://127.0.0.1:0" : undefined;
  const lists = await permissionLists(settings, partPlugins(castings, env), env, internal);
  const lines = ["relayer", ...permissionFlags(lists.relayer)];
  if (settings.sidecarAutostart) lines.push("sidecar", ...permissionFlags(lists.sidecar));
  return lines.map((line) => line.startsWith("--") ? `  ${line}\n` : `${line}\n`).join("");
}

/**
 * The relayer key: at first as it is now, then as it is when the relayer starts again, since it may
 * have been changed. Where it cannot be had any more, the last one is tried.
 *
 * @throws {SvcError} `invalid_parameter` when there is no usable relayer key.
 */
async function relayerKeyOf(
  settings: Settings,
  logger: Logger,
): Promise<() => Promise<RelayerKey>> {
  const load = async () => {
    const { key, warnings } = await loadRelayerKey(settings, runCommand);
    for (const warning of warnings) logger.warn("relayer key", { reason: warning });
    return key;
  };
  let key = await load();
  let isFresh = true;
  return async () => {
    if (!isFresh) {
      key = await load().catch((error) => {
        logger.warn("relayer key", { reason: SvcError.from(error).message });
        return key;
      });
    }
    isFresh = false;
    return key;
  };
}

/**
 * Runs the relayer and the sidecar as children with exactly the permissions each needs, until a
 * signal or a start that cannot succeed.
 *
 * @returns the relayer's exit code.
 * @throws {SvcError} `invalid_parameter` when there is no usable relayer key.
 */
export async function runLauncher(prepared: Prepared, env: Env, logger: Logger): Promise<number> {
  const { sidecarUrl, internalUrl } = chooseAddresses(prepared.settings);
  const settings: Settings = { ...prepared.settings, sidecarUrl };
  const { sidecarAutostart } = settings;
  const parted = partPlugins(prepared.castings, env);
  for (const warning of prepared.warnings) logger.warn("settings", { reason: warning });
  const key = await relayerKeyOf(settings, logger);

  const token = settings.sidecarToken?.reveal() ??
    crypto.getRandomValues(new Uint8Array(32)).toHex();
  const relayerBoot: Omit<RelayerBoot, "relayerKey"> = {
    env: {
      ...relayerEnvironment(env, settings, pluginVariables(parted.relayer)),
      SIDECAR_URL: sidecarUrl,
      ...(sidecarAutostart ? { SIDECAR_AUTH_TOKEN: token } : {}),
    },
    ...(sidecarAutostart ? { internalUrl } : {}),
  };
  const lists = await permissionLists(settings, parted, env, relayerBoot.internalUrl);
  const relayerSpec = childSpec({
    command: "serve",
    permissions: lists.relayer,
    env,
    proxies: true,
    boot: async () => ({ ...relayerBoot, relayerKey: (await key()).reveal() }),
    castings: parted.relayer,
  });
  const sidecarSpec = childSpec({
    command: "sidecar",
    permissions: lists.sidecar,
    env,
    // Only a sponsor makes a sidecar call other machines.
    proxies: parted.sponsor !== undefined,
    boot: () => sidecarBoot(settings, token, internalUrl, parted.sponsor),
    castings: parted.sidecar,
  });
  const relayer = new Supervisor(relayerSpec, { logger });
  const sidecar = new Supervisor(sidecarSpec, { logger });

  const graceMs = stopSeconds(settings) * 1000 + MARGIN_MS;
  using _signals = onStopSignal((signal) => {
    // A terminal signals every process at once: the sidecar may be gone before the relayer is.
    sidecar.startNoMore();
    void relayer.stop(signal, graceMs);
  });
  await using _noted = await noteLauncher(settings.dataDir);
  await using _backups = startBackups(settings, env, logger);
  const sidecarRun = sidecarAutostart ? sidecar.run() : Promise.resolve(0);
  const code = await relayer.run();
  // The relayer drains through the sidecar, so the sidecar goes last.
  await sidecar.stop("SIGTERM", MARGIN_MS);
  await sidecarRun;
  if (code === EXIT_CONFIG) logger.error("the relayer cannot start with these settings");
  return code;
}

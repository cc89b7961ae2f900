import { invalid } from "../invalid.ts";
import { z } from "zod";
import type { Env } from "../../interfaces/fields.ts";
import { MODEL_DIR_FIELD } from "../../interfaces/shared_fields.ts";
import { type Settings, setVariables } from "../settings/mod.ts";
import { ROLE_FIELDS, ROLE_NAMES } from "../settings/roles.ts";
import { TABLE_VARIABLES } from "../settings/table.ts";
import { DEFAULT_SIDECAR_LIMITS } from "../../mcp/options.ts";
import type { SidecarBoot, SponsorBoot } from "../../mcp/process.ts";

/** Exit code of a start that fails again until the settings are changed (`EX_CONFIG`). */
export const EXIT_CONFIG = 78;

/** What a relayer is started with; crosses a pipe as one line of JSON. */
export type RelayerBoot = z.infer<typeof RELAYER_BOOT>;

/**
 * The variables a relayer needs, with paths that mean the same in any process.
 *
 * @param pluginVariables what the plugins read that it opens; it is given no other plugin's.
 */
export function relayerEnvironment(
  env: Env,
  settings: Settings,
  pluginVariables: readonly string[],
): Record<string, string> {
  // Defaults of paths start at the home folder.
  const names = ["HOME", "USERPROFILE", ...TABLE_VARIABLES, ...pluginVariables];
  const kept = setVariables(env, names);
  for (const role of ROLE_NAMES) kept[ROLE_FIELDS[role].env] = settings[role];
  return {
    ...kept,
    SVC_DATA_DIR: settings.dataDir,
    ...(pluginVariables.includes(MODEL_DIR_FIELD.env) ? { SVC_MODEL_DIR: settings.modelDir } : {}),
  };
}

const VARIABLES = z.record(z.string(), z.string());
const ADDRESS = z.string().refine(URL.canParse);
const limit = (fallback: number) => z.int().min(1).default(fallback);

const RELAYER_BOOT = z.object({
  /** The variables it reads its settings from. */
  env: VARIABLES,
  relayerKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Loopback address where the sidecar's calls are answered; absent without a sidecar. */
  internalUrl: ADDRESS.regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/).exactOptional(),
});

const SIDECAR_BOOT: z.ZodType<SidecarBoot> = z.object({
  url: ADDRESS,
  token: z.string().min(16),
  relayerUrl: ADDRESS,
  isInternal: z.boolean().default(true),
  limits: z.object({
    sessions: limit(DEFAULT_SIDECAR_LIMITS.sessions),
    sessionsPerIp: limit(DEFAULT_SIDECAR_LIMITS.sessionsPerIp),
    newSessionsPerIpPerMinute: limit(DEFAULT_SIDECAR_LIMITS.newSessionsPerIpPerMinute),
    idleSeconds: limit(DEFAULT_SIDECAR_LIMITS.idleSeconds),
    keepaliveSeconds: limit(DEFAULT_SIDECAR_LIMITS.keepaliveSeconds),
    aliases: z.boolean().default(DEFAULT_SIDECAR_LIMITS.aliases),
  }).prefault({}),
  name: z.string().exactOptional(),
  webUrl: ADDRESS.exactOptional(),
  fixtures: z.string().exactOptional(),
  sponsor: z.object({ name: z.string(), env: VARIABLES }).exactOptional(),
  logLevel: z.enum(["debug", "info", "warn", "error"]).default("info"),
  logFormat: z.enum(["text", "json"]).default("text"),
});

/** Reads start lines; throws {@linkcode SvcError} `invalid_parameter` for one of another shape. */
function reader<T>(shape: z.ZodType<T>): (line: string) => T {
  return (line) => {
    try {
      return shape.parse(JSON.parse(line));
    } catch {
      // Without the parsers' messages: they quote the line, which holds secrets.
      throw invalid("The start line is not valid");
    }
  };
}

export const parseRelayerBoot = reader(RELAYER_BOOT);
export const parseSidecarBoot = reader(SIDECAR_BOOT);

/** What the settings mean for a sidecar. */
export function sidecarBoot(
  settings: Settings,
  token: string,
  relayerUrl: string,
  sponsor?: SponsorBoot,
): SidecarBoot {
  return {
    url: settings.sidecarUrl,
    token,
    relayerUrl,
    isInternal: true,
    limits: {
      sessions: settings.mcpMaxSessions,
      sessionsPerIp: settings.mcpMaxSessionsPerIp,
      newSessionsPerIpPerMinute: settings.mcpMaxNewSessionsPerIpPerMinute,
      idleSeconds: settings.mcpSessionIdleSeconds,
      keepaliveSeconds: settings.mcpKeepaliveSeconds,
      aliases: settings.compatAliases,
    },
    ...(settings.relayerName === undefined ? {} : { name: settings.relayerName }),
    // A port of 0 has no dashboard, unless somebody says where another one is.
    ...(settings.webPort > 0 || settings.given.has("SVC_WEB_URL")
      ? { webUrl: settings.webUrl }
      : {}),
    ...(settings.test && settings.mcpFixtures !== undefined
      ? { fixtures: settings.mcpFixtures }
      : {}),
    ...(sponsor === undefined ? {} : { sponsor }),
    logLevel: settings.logLevel,
    logFormat: settings.logFormat,
  };
}

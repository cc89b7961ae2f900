import { SvcError } from "../../errors.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { Settings } from "../settings/mod.ts";
import { ROLE_FIELDS, ROLE_NAMES } from "../settings/roles.ts";
import { TABLE_VARIABLES } from "../settings/table.ts";
import { DEFAULT_SIDECAR_LIMITS, type SidecarLimits } from "../../mcp/options.ts";
import type { SidecarBoot, SponsorBoot } from "../../mcp/process.ts";

/** Exit code of a start that cannot succeed before something is changed (`EX_CONFIG`). */
export const EXIT_CONFIG = 78;

/** What a relayer is started with; crosses a pipe as one line of JSON. */
export interface RelayerBoot {
  /** The variables it reads its settings from. */
  readonly env: Env;
  /** Relayer key, 64 hex characters. */
  readonly relayerKey: string;
  /** Loopback address where the sidecar's calls are answered; absent without a sidecar. */
  readonly internalUrl?: string;
}

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
  const kept: Record<string, string> = {};
  // Defaults of paths start at the home folder.
  for (const name of ["HOME", "USERPROFILE", ...TABLE_VARIABLES, ...pluginVariables]) {
    const value = env[name];
    if (value) kept[name] = value;
  }
  for (const role of ROLE_NAMES) kept[ROLE_FIELDS[role].env] = settings[role];
  return { ...kept, SVC_DATA_DIR: settings.dataDir };
}

const invalid = () => new SvcError("invalid_parameter", "The start line is not valid");

function parseObject(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid();
  return Object.fromEntries(Object.entries(value));
}

function isLoopbackUrl(value: unknown): value is string {
  return typeof value === "string" && /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(value) &&
    URL.canParse(value);
}

function parseVariables(env: object): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== "string") throw invalid();
    variables[name] = value;
  }
  return variables;
}

/** Who pays; absent when nobody does. */
function parseSponsor(value: unknown): { sponsor?: SponsorBoot } {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw invalid();
  const { name, env } = Object.fromEntries(Object.entries(value));
  if (typeof name !== "string" || typeof env !== "object" || env === null) throw invalid();
  return { sponsor: { name, env: parseVariables(env) } };
}

/**
 * Reads a relayer's start line.
 * @throws {SvcError} `invalid_parameter` when it has another shape.
 */
export function parseRelayerBoot(line: string): RelayerBoot {
  const { env, relayerKey, internalUrl } = parseObject(line);
  if (typeof env !== "object" || env === null || typeof relayerKey !== "string") throw invalid();
  if (!/^[0-9a-f]{64}$/.test(relayerKey)) throw invalid();
  if (internalUrl !== undefined && !isLoopbackUrl(internalUrl)) throw invalid();
  return {
    env: parseVariables(env),
    relayerKey,
    ...(internalUrl === undefined ? {} : { internalUrl }),
  };
}

/** Limits of sessions; what is absent has its default. */
function parseLimits(value: unknown): SidecarLimits {
  if (typeof value !== "object" || value === null) throw invalid();
  const given = new Map(Object.entries(value));
  const defaults = DEFAULT_SIDECAR_LIMITS;
  function number(name: Exclude<keyof SidecarLimits, "aliases">): number {
    const limit: unknown = given.get(name) ?? defaults[name];
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) throw invalid();
    return limit;
  }
  return {
    sessions: number("sessions"),
    sessionsPerIp: number("sessionsPerIp"),
    newSessionsPerIpPerMinute: number("newSessionsPerIpPerMinute"),
    idleSeconds: number("idleSeconds"),
    keepaliveSeconds: number("keepaliveSeconds"),
    aliases: given.get("aliases") !== false,
  };
}

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
    limits: {
      sessions: settings.mcpMaxSessions,
      sessionsPerIp: settings.mcpMaxSessionsPerIp,
      newSessionsPerIpPerMinute: settings.mcpMaxNewSessionsPerIpPerMinute,
      idleSeconds: settings.mcpSessionIdleSeconds,
      keepaliveSeconds: settings.mcpKeepaliveSeconds,
      aliases: settings.compatAliases,
    },
    ...(settings.test && settings.mcpFixtures !== undefined
      ? { fixtures: settings.mcpFixtures }
      : {}),
    ...(sponsor === undefined ? {} : { sponsor }),
    logLevel: settings.logLevel,
    logFormat: settings.logFormat,
  };
}

/**
 * Reads a sidecar's start line.
 * @throws {SvcError} `invalid_parameter` when it has another shape.
 */
export function parseSidecarBoot(line: string): SidecarBoot {
  const { url, token, relayerUrl, limits, fixtures, sponsor, logLevel, logFormat } = parseObject(
    line,
  );
  if (typeof url !== "string" || typeof token !== "string") throw invalid();
  if (!URL.canParse(url) || token.length < 16) throw invalid();
  if (typeof relayerUrl !== "string" || !URL.canParse(relayerUrl)) throw invalid();
  const level = (["debug", "info", "warn", "error"] as const).find((word) => word === logLevel);
  return {
    url,
    token,
    relayerUrl,
    limits: parseLimits(limits ?? {}),
    ...(typeof fixtures === "string" ? { fixtures } : {}),
    ...parseSponsor(sponsor),
    logLevel: level ?? "info",
    logFormat: logFormat === "json" ? "json" : "text",
  };
}

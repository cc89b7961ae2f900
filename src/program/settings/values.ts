import { pathToFileURL } from "node:url";
import type { Env } from "../../interfaces/fields.ts";
import type { Role } from "../../interfaces/mod.ts";
import { isLoopback } from "./parsers.ts";
import type { PluginSettings } from "./plugin_settings.ts";
import { ROLE_NAMES } from "./roles.ts";
import type { TableValues } from "./table.ts";
import { homeFolder } from "../../home_folder.ts";

/** A path with `~` and relative parts resolved. */
export function resolvePath(path: string, home: string, cwd: string): string {
  if (path === "~" || path.startsWith("~/")) path = home + path.slice(1);
  if (/^([A-Za-z]:)?[\\/]/.test(path) || path.startsWith("~")) return path;
  return cwd === "" ? path : `${cwd}/${path.replace(/^\.\//, "")}`;
}

/** A plugin's choice; a path becomes a `file:` address, so that it means the same to every process. */
function resolvePlugin(name: string, home: string, cwd: string): string {
  if (!/^(\.{0,2}\/|~\/|[A-Za-z]:\\)/.test(name)) return name;
  const path = resolvePath(name, home, cwd);
  return /^([A-Za-z]:)?[\\/]/.test(path) ? pathToFileURL(path).href : path;
}

/** The settings of a relayer, computed defaults filled in. */
export interface Settings extends TableValues {
  readonly port: number;
  readonly webUrl: string;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly behindProxy: readonly string[];
  /** Absolute path of the data directory. */
  readonly dataDir: string;
  /** Path of the relayer key; absent when it is a passphrase's or a command's. */
  readonly keyFile: string | undefined;
  /** Absolute path of the folder of backups. */
  readonly backupDir: string;
  /** Absolute path of the folder of models. */
  readonly modelDir: string;
  readonly accounts: string;
  readonly blobStore: string;
  readonly cipher: string;
  readonly vectorStore: string;
  /** Names of the variables that were set. */
  readonly given: ReadonlySet<string>;
}

/** Longest time that a relayer takes to stop, seconds. */
export function stopSeconds(
  { drainSeconds, shutdownSeconds }: Pick<Settings, "drainSeconds" | "shutdownSeconds">,
): number {
  return drainSeconds + shutdownSeconds;
}

/** What reading the environment found; `settings` may be used only without problems. */
export interface SettingsReading {
  readonly settings: Settings;
  /** What plugins read besides. */
  readonly plugins: readonly PluginSettings[];
  /** Why the start must stop, one line each. */
  readonly problems: readonly string[];
  /** What is odd but harmless, one line each. */
  readonly warnings: readonly string[];
}

/** The variables that are set; an empty one counts as not set. */
export function setVariables(
  env: Env,
  names: Iterable<string> = Object.keys(env),
): Record<string, string> {
  const set: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value) set[name] = value;
  }
  return set;
}

/**
 * The settings with computed defaults and whole paths.
 *
 * @param cwd What relative paths are relative to.
 */
export function complete(values: TableValues, env: Env, cwd: string): Settings {
  const home = homeFolder(env) || "~";
  const webUrl = values.webUrl ?? `http://localhost:${values.webPort || 5173}`;
  const ownKey = values.keyPassphraseFile !== undefined || values.keyCommand !== undefined;
  const keyFile = values.keyFile ?? (ownKey ? undefined : "~/.svc/relayer.key");
  const path = (text: string) => resolvePath(text, home, cwd);
  const onChain = values.packageId !== undefined && values.registryId !== undefined;
  const { store } = values;
  const chosen = {
    ...values,
    accounts: values.accounts ?? (onChain ? "sui" : store),
    blobStore: values.blobStore ?? store,
    cipher: values.cipher ?? store,
    vectorStore: values.vectorStore ?? store,
  };
  const plugins = ROLE_NAMES.map((role) => [role, resolvePlugin(chosen[role], home, cwd)]);
  const behindProxy = values.behindProxy ?? values.trustedProxies;
  // A proxy may call the relayer by a name that only the two know.
  const isBehind = behindProxy.length > 0 && !isLoopback(values.host);
  return {
    ...values,
    port: values.port ?? values.hostedPort ?? 8000,
    webUrl,
    allowedOrigins: values.allowedOrigins ?? [new URL(webUrl).origin],
    behindProxy,
    allowedHosts: values.allowedHosts ?? (isBehind ? ["*"] : []),
    dataDir: path(values.dataDir ?? "~/.svc/relayer"),
    backupDir: path(values.backupDir ?? "~/.svc/backups"),
    modelDir: path(values.modelDir ?? "~/.svc/models"),
    keyFile: keyFile === undefined ? undefined : path(keyFile),
    keyPassphraseFile: values.keyPassphraseFile && path(values.keyPassphraseFile),
    tlsCertFile: values.tlsCertFile && path(values.tlsCertFile),
    tlsKeyFile: values.tlsKeyFile && path(values.tlsKeyFile),
    mcpFixtures: values.mcpFixtures && path(values.mcpFixtures),
    ...Object.fromEntries(plugins) as Record<Role, string>,
    given: new Set(Object.keys(setVariables(env))),
  };
}

/** The variables as plugins get them: with whole paths, which mean the same in any process. */
export function withWholePaths(env: Env, { modelDir }: Pick<Settings, "modelDir">): Env {
  return { ...env, SVC_MODEL_DIR: modelDir };
}

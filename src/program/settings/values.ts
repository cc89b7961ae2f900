import type { Env } from "../../interfaces/fields.ts";
import { isLoopback } from "./parsers.ts";
import { resolvePath, resolvePlugin } from "./paths.ts";
import type { PluginSettings } from "./plugin_settings.ts";
import type { TableValues } from "./table.ts";

/** The settings of a relayer, computed defaults filled in. */
export interface Settings extends TableValues {
  /** Port to listen on; 0 = chosen by the system. */
  readonly port: number;
  readonly webUrl: string;
  /** Origins CORS answers to. */
  readonly allowedOrigins: readonly string[];
  /** Further names a Host header may carry; `*` = any. */
  readonly allowedHosts: readonly string[];
  /** Absolute path of the data directory. */
  readonly dataDir: string;
  /** Path of the relayer key; absent when it is a passphrase's or a command's. */
  readonly keyFile: string | undefined;
  readonly accounts: string;
  /** Names of the variables that were set. */
  readonly given: ReadonlySet<string>;
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

/**
 * The settings with computed defaults and whole paths.
 *
 * @param cwd What relative paths are relative to.
 */
export function complete(values: TableValues, env: Env, cwd: string): Settings {
  const home = env["HOME"] || env["USERPROFILE"] || "~";
  const webUrl = values.webUrl ?? `http://localhost:${values.webPort || 5173}`;
  const ownKey = values.keyPassphraseFile !== undefined || values.keyCommand !== undefined;
  const keyFile = values.keyFile ?? (ownKey ? undefined : "~/.svc/relayer.key");
  const path = (text: string) => resolvePath(text, home, cwd);
  const plugin = (name: string) => resolvePlugin(name, home, cwd);
  const onChain = values.packageId !== undefined && values.registryId !== undefined;
  return {
    ...values,
    port: values.port ?? values.hostedPort ?? 8000,
    webUrl,
    allowedOrigins: values.allowedOrigins ?? [new URL(webUrl).origin],
    allowedHosts: values.allowedHosts ?? (isLoopback(values.host) ? [] : ["*"]),
    dataDir: path(values.dataDir ?? "~/.svc/relayer"),
    keyFile: keyFile === undefined ? undefined : path(keyFile),
    keyPassphraseFile: values.keyPassphraseFile && path(values.keyPassphraseFile),
    mcpFixtures: values.mcpFixtures && path(values.mcpFixtures),
    accounts: plugin(values.accounts ?? (onChain ? "sui" : "local")),
    blobStore: plugin(values.blobStore),
    cipher: plugin(values.cipher),
    embedder: plugin(values.embedder),
    languageModel: plugin(values.languageModel),
    sponsor: plugin(values.sponsor),
    vectorStore: plugin(values.vectorStore),
    given: new Set(Object.keys(env).filter((name) => env[name])),
  };
}

/**
 * Encryption under a threshold of Seal key servers: the relayer opens a memory only with the
 * credential of somebody whom the account on chain lets read. See docs/seal.md.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Cipher } from "../../../src/interfaces/mod.ts";
import {
  type BackendSource,
  type CipherContext,
  definePlugin,
  type KeyStore,
  type Plugin,
  pluginSource,
} from "../../../src/interfaces/plugin.ts";
import type { KeyWorkOptions } from "./calls.ts";
import { SealCipher } from "./cipher.ts";
import {
  keyWorkOptions,
  netPermissions,
  SEAL_FIELDS,
  type SealFields,
  type SealSettings,
  serverWarnings,
} from "./settings.ts";
import { WorkerCalls } from "./worker_calls.ts";

export type * from "../../../src/interfaces/mod.ts";
export type * from "../../../src/interfaces/plugin.ts";
export type { KeyServer, KeyWorkOptions } from "./calls.ts";
export type { SuiNetwork } from "../chain/fields.ts";
export type { SealFields, SealSettings } from "./settings.ts";

/** Settings of {@linkcode sealCipher}. */
export interface SealOptions extends KeyWorkOptions {
  /** Keeps the wrapped data keys. */
  readonly keys: KeyStore;
  /** Takes notes for the operator. */
  readonly note?: (message: string) => void;
}

/** The cipher for code. Its work is done in a worker thread, which starts with the first call. */
export function sealCipher({ keys, note, ...options }: SealOptions): Cipher {
  const work = new WorkerCalls(options, note === undefined ? {} : { note });
  return new SealCipher({ keys, work, servers: options });
}

/** Paths that the worker is loaded from, where they are on disk. */
function sources(): string[] {
  return ["../../", "../../../src/"].map((folder) => new URL(folder, import.meta.url))
    .filter(({ protocol }) => protocol === "file:")
    .map((folder) => fileURLToPath(folder).replace(/[/\\]$/, ""));
}

function open(settings: SealSettings, context: CipherContext): Cipher {
  const options = keyWorkOptions(settings);
  for (const line of serverWarnings(options)) context.log("warn", line);
  return sealCipher({
    ...options,
    keys: context.keys,
    note: (message) => context.log("error", message),
  });
}

/** The plugin `seal` for the role `cipher`. */
const plugin: Plugin<SealFields> = definePlugin({
  name: "seal",
  fields: SEAL_FIELDS,
  permissions: (role, settings) =>
    role === "cipher" ? { net: netPermissions(settings), read: sources() } : {},
  roles: { cipher: open },
});

export default plugin;

/** The cipher for `createRelayer`. */
export function seal(settings: Partial<SealSettings>): BackendSource {
  return pluginSource(plugin, settings);
}

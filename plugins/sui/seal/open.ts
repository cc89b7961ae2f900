import type { Cipher } from "../../../src/interfaces/mod.ts";
import type { CipherContext, KeyStore } from "../../../src/interfaces/plugin.ts";
import type { KeyWorkOptions } from "./calls.ts";
import { SealCipher } from "./cipher.ts";
import { keyWorkOptions, type SealSettings, serverWarnings } from "./settings.ts";
import { WorkerCalls } from "./worker_calls.ts";

/** Which key servers to use, and where the cipher keeps its keys. */
export interface SealOptions extends KeyWorkOptions {
  /** Stores the wrapped data keys. */
  readonly keys: KeyStore;
  /** Takes notes for the operator. */
  readonly note?: (message: string) => void;
}

/** The cipher for programs. It works in a worker thread, which starts with the first call. */
export function sealCipher({ keys, note, ...options }: SealOptions): Cipher {
  const work = new WorkerCalls(options, note === undefined ? {} : { note });
  return new SealCipher({ keys, work, servers: options });
}

/** The cipher for the configuration. */
export function openSealCipher(settings: SealSettings, context: CipherContext): Cipher {
  const options = keyWorkOptions(settings);
  for (const line of serverWarnings(options)) context.log("warn", line);
  return sealCipher({
    ...options,
    keys: context.keys,
    note: (message) => context.log("error", message),
  });
}

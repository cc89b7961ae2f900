import type { Certificate, HttpListener } from "../http1/http_listener.ts";
import type { Logger } from "../log.ts";
import type { SvcError } from "../errors.ts";
import { invalid } from "./invalid.ts";
import type { Settings } from "./settings/mod.ts";

/** Pause between looks at the files, milliseconds. */
const LOOK_MS = 2000;

type Files = Pick<Settings, "tlsCertFile" | "tlsKeyFile">;

/**
 * The certificate and its key; `undefined` where the relayer speaks no TLS.
 *
 * @throws {SvcError} `invalid_parameter` when a file cannot be read.
 */
export async function readCertificate(
  { tlsCertFile, tlsKeyFile }: Files,
): Promise<Certificate | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  return {
    cert: await read("SVC_TLS_CERT_FILE", tlsCertFile),
    key: await read("SVC_TLS_KEY_FILE", tlsKeyFile),
  };
}

async function read(setting: string, path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    throw invalid(`${setting}: ${path} cannot be read`, cause);
  }
}

/** Why the two files are no certificate and its key. */
export function certificateFailure(cause: unknown): SvcError {
  const reason = cause instanceof Error ? cause.message : "unknown";
  return invalid(`SVC_TLS_CERT_FILE and SVC_TLS_KEY_FILE: they cannot be used: ${reason}`, cause);
}

/** Says so when other users may read the key. It is left as it is: others may have made it. */
export async function warnOfOpenKey({ tlsKeyFile }: Files, logger: Logger): Promise<void> {
  if (tlsKeyFile === undefined || Deno.build.os === "windows") return;
  const { mode } = await Deno.stat(tlsKeyFile);
  if (((mode ?? 0) & 0o077) === 0) return;
  logger.warn("TLS key", { reason: `${tlsKeyFile} is open to other users: chmod 600 it` });
}

/**
 * Gives a listener what is in the files whenever it changes. What cannot be used, as while only one
 * of the two is written, is logged once, and the former certificate stays.
 *
 * @param current What the listener has.
 */
export function watchCertificate(
  files: Files,
  current: Certificate,
  listener: HttpListener,
  logger: Logger,
): Disposable {
  let seen = current;
  let said = "";
  async function look(): Promise<void> {
    try {
      const found = await readCertificate(files);
      if (found === undefined || found.cert === seen.cert && found.key === seen.key) return;
      seen = found;
      said = "";
      listener.setCertificate(found);
      logger.info("TLS certificate loaded");
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      if (reason !== said) logger.warn("TLS certificate not loaded", { reason });
      said = reason;
    }
  }
  const timer = setInterval(() => void look(), LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

import { dirname } from "node:path";
import { credentialsPath } from "../../client/credentials_file.ts";
import { type Check, type Finding, ok, problem, warning } from "./finding.ts";
import { reasonOf } from "./reason.ts";

/** A file that holds a secret. */
interface SecretFile {
  readonly what: string;
  readonly path: string;
  /** Whether a start makes it where there is none. */
  readonly isMade?: boolean;
  /** Whether it may be a link, as certificates that are renewed often are. */
  readonly mayBeLink?: boolean;
}

/** Whether only their owner can read the files with secrets. */
export const secretFiles: Check = {
  name: "secret files",
  async look({ prepared: { settings }, env }) {
    const { keyFile, keyPassphraseFile, tlsKeyFile } = settings;
    const credentials = credentialsPath(env);
    const files: SecretFile[] = [];
    if (keyFile !== undefined) files.push({ what: "relayer key", path: keyFile, isMade: true });
    if (keyPassphraseFile !== undefined) {
      files.push({ what: "passphrase", path: keyPassphraseFile });
    }
    if (tlsKeyFile !== undefined) {
      files.push({ what: "TLS key", path: tlsKeyFile, mayBeLink: true });
    }
    if (credentials !== undefined) {
      files.push({ what: "credentials", path: credentials, isMade: true, mayBeLink: true });
    }
    return (await Promise.all(files.map(lookAt))).flat();
  },
};

/** What is to be said of one file and of its folder. */
export async function lookAt({ what, path, isMade, mayBeLink }: SecretFile): Promise<Finding[]> {
  let info: Deno.FileInfo;
  try {
    info = await (mayBeLink ? Deno.stat(path) : Deno.lstat(path));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      return [problem(`${what}: ${path}: ${reasonOf(error)}`, "make it readable for this user")];
    }
    return [
      isMade
        ? ok(`${what}: ${path} is not there yet`)
        : problem(`${what}: ${path} does not exist`, "put it there, or change its setting"),
    ];
  }
  if (!info.isFile) {
    return [problem(`${what}: ${path} is no file`, "put the file itself there")];
  }
  const found = [ofFile(what, path, info), ...await ofFolder(path)];
  const wrong = found.filter(({ state }) => state !== "ok");
  return wrong.length > 0 ? wrong : found.slice(0, 1);
}

/** What is to be said of a file's mode. Windows has none, so nothing is claimed there. */
export function ofFile(
  what: string,
  path: string,
  { mode }: Pick<Deno.FileInfo, "mode">,
  os: string = Deno.build.os,
): Finding {
  if (os === "windows") return ok(`${what}: ${path} is there`);
  if (!isWider(mode, 0o600)) return ok(`${what}: only its owner reads ${path}`);
  return problem(`${what}: other users may open ${path} (${octal(mode)})`, `chmod 600 ${path}`);
}

/** Who may write to a folder may replace what is in it. */
async function ofFolder(path: string): Promise<Finding[]> {
  const folder = dirname(path);
  const { mode } = await Deno.stat(folder);
  const isShared = isWider(mode, 0o755) && ((mode ?? 0) & 0o1000) === 0;
  if (isShared) {
    return [problem(`other users may replace files in ${folder} (${octal(mode)})`, mend(folder))];
  }
  // Folders of other names serve other programs too.
  if (!/[\\/]\.svc$/.test(folder) || !isWider(mode, 0o700)) return [];
  return [warning(`other users may look into ${folder} (${octal(mode)})`, mend(folder))];
}

const mend = (folder: string) => `chmod 700 ${folder}`;

/** Whether a mode gives others more than wanted. Windows has none. */
export function isWider(mode: number | null, wanted: number): boolean {
  return Deno.build.os !== "windows" && ((mode ?? 0) & 0o777 & ~wanted) !== 0;
}

export const octal = (mode: number | null): string => "0" + ((mode ?? 0) & 0o777).toString(8);

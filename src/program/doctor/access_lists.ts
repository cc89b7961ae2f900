import { win32 } from "node:path";
import { credentialsPath } from "../../client/credentials_file.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { Settings } from "../settings/mod.ts";
import { type Check, type Finding, warning } from "./finding.ts";

/** A folder or file that is its user's. */
interface Place {
  readonly path: string;
  readonly isFolder: boolean;
}

/** Who may open the files on Windows, where access lists decide and modes do nothing. */
export const accessLists: Check = {
  name: "access lists",
  look: ({ prepared: { settings }, env }) => lookAtLists(placesOf(settings, env), env),
};

/** What holds secrets and data: a folder that may be another program's too is left to it. */
function placesOf(
  { dataDir, keyFile, keyPassphraseFile, tlsKeyFile }: Settings,
  env: Env,
): Place[] {
  const files = [keyFile, keyPassphraseFile, tlsKeyFile, credentialsPath(env)]
    .filter((path) => path !== undefined);
  const places = files.map((path) => {
    const folder = win32.dirname(path);
    const isOwn = win32.basename(folder) === ".svc";
    return { path: isOwn ? folder : path, isFolder: isOwn };
  });
  return [...places, { path: dataDir, isFolder: true }];
}

/** Whether a path is a folder, or in it, as Windows compares names. */
function isIn(path: string, folder: string): boolean {
  const [inner, outer] = [path, folder].map((name) => `${name.toLowerCase()}\\`);
  return inner!.startsWith(outer!);
}

/** Each place once, as Windows writes it, without those that are in another one. */
function outermost(places: readonly Place[]): Place[] {
  const all = new Map(places.map(({ path, isFolder }) => {
    const name = win32.resolve(path);
    return [name, { path: name, isFolder }];
  }));
  return [...all.values()].filter(({ path }) =>
    ![...all.keys()].some((other) => other !== path && isIn(path, other))
  );
}

/** The command that leaves a place, and all that inherits from it, to its user alone. */
function commandFor({ path, isFolder }: Place, { USERDOMAIN, USERNAME }: Env): string {
  const domain = USERDOMAIN === undefined ? "" : `${USERDOMAIN}\\`;
  const user = USERNAME === undefined ? "%USERNAME%" : `${domain}${USERNAME}`;
  const rights = isFolder ? "(OI)(CI)F" : "F";
  return `icacls "${path}" /inheritance:r /grant:r "${user}:${rights}"`;
}

/**
 * What is to be said of places on Windows; nothing elsewhere, where modes are looked at. The lists
 * themselves are not read: whoever may open a profile by default is known.
 *
 * @param os Name of the system, as Deno has it.
 */
export function lookAtLists(
  places: readonly Place[],
  env: Env,
  os: string = Deno.build.os,
): Finding[] {
  if (os !== "windows") return [];
  const profile = env.USERPROFILE;
  return outermost(places).map((place) => {
    const { path } = place;
    const known = "file modes such as 0600 are not enforced on Windows";
    const command = commandFor(place, env);
    if (profile === undefined || !isIn(path, win32.resolve(profile))) {
      return warning(`${known}: whoever may open the folder above may open ${path}`, command);
    }
    const found = `${known}: ${path} is as open as your profile, by default to you, the system ` +
      "and administrators";
    return { state: "ok", found, advice: `for yourself alone: ${command}` };
  });
}

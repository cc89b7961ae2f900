import { accessSync, constants, realpathSync } from "node:fs";
import { basename, delimiter, join } from "node:path";

/** Folders of one version, or of a cache: an upgrade or a cleaning removes them. */
const PASSING = /[/\\](_npx|Cellar|\.cache|[Cc]aches?|v?\d+\.\d+\.\d+)[/\\]/;

function real(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/**
 * A path of an executable that outlives an upgrade: one of PATH that means the same file today, such
 * as a link that the package manager turns to the next version.
 *
 * @param executable Path of the executable that runs now.
 * @param path Value of `PATH`.
 * @returns the path, and whether it may vanish all the same.
 */
export function stablePath(
  executable: string,
  path: string | undefined,
): { readonly path: string; readonly mayVanish: boolean } {
  const file = real(executable);
  const names = (path ?? "").split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, basename(executable)));
  const stable = [executable, ...names].find((name) => !PASSING.test(name) && real(name) === file);
  return { path: stable ?? executable, mayVanish: stable === undefined };
}

import { pathToFileURL } from "node:url";

/** A path with `~` and relative parts resolved. */
export function resolvePath(path: string, home: string, cwd: string): string {
  if (path === "~" || path.startsWith("~/")) path = home + path.slice(1);
  if (/^([A-Za-z]:)?[\\/]/.test(path) || path.startsWith("~")) return path;
  return cwd === "" ? path : `${cwd}/${path.replace(/^\.\//, "")}`;
}

/** A plugin's choice; a path becomes a `file:` address, so that it means the same to every process. */
export function resolvePlugin(name: string, home: string, cwd: string): string {
  if (!/^(\.{0,2}\/|~\/|[A-Za-z]:\\)/.test(name)) return name;
  const path = resolvePath(name, home, cwd);
  return /^([A-Za-z]:)?[\\/]/.test(path) ? pathToFileURL(path).href : path;
}

import { platform } from "node:process";

/**
 * The user's folder, as a shell names it; empty where nobody does. On Windows a shell of another
 * system may set `HOME` to a folder that other programs do not know.
 */
export function homeFolder(
  { HOME, USERPROFILE }: Readonly<Record<string, string | undefined>>,
  isWindows: boolean = platform === "win32",
): string {
  return (isWindows ? USERPROFILE || HOME : HOME || USERPROFILE) ?? "";
}

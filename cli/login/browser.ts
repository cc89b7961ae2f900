import { spawn } from "node:child_process";
import { platform as thisPlatform } from "node:process";
import { SCREEN } from "../environment.ts";

/** What decides whether and how a browser is opened. */
export interface BrowserOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name of the platform as Node has it; default: this one. */
  readonly platform?: string;
  /** Starts a program and forgets it; default: a child process, without a shell. */
  readonly run?: (program: string, args: readonly string[], env: BrowserOptions["env"]) => void;
}

/**
 * Whether this looks like a computer with a browser in front of the user: not over SSH, with a
 * screen, and not told otherwise by `SVC_NO_BROWSER`.
 */
export function mayOpenBrowser({ env, platform = thisPlatform }: BrowserOptions): boolean {
  if (env.SVC_NO_BROWSER === "1") return false;
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform === "darwin" || platform === "win32" ||
    Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

function command(platform: string, url: string): [program: string, args: readonly string[]] {
  if (platform === "darwin") return ["open", [url]];
  // Not `start`: it belongs to a shell, which gives meaning to `&` in an address.
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler", url]];
  return ["xdg-open", [url]];
}

/** Starts a program with only the variables it needs. */
function runDetached(program: string, args: readonly string[], all: BrowserOptions["env"]): void {
  const names = ["HOME", "USERPROFILE", ...SCREEN].filter((name) => all[name] !== undefined);
  const env = Object.fromEntries(names.map((name) => [name, all[name]]));
  const options = { detached: true, stdio: "ignore", windowsHide: true, env } as const;
  const child = spawn(program, [...args], options);
  child.on("error", () => undefined);
  child.unref();
}

/**
 * Opens an address in the user's browser, as well as can be done.
 *
 * @returns whether it was tried; a browser that does not come up is nothing anybody learns of.
 */
export function openBrowser(url: string, options: BrowserOptions): boolean {
  if (!/^https?:$/.test(new URL(url).protocol) || !mayOpenBrowser(options)) return false;
  const { platform = thisPlatform, run = runDetached } = options;
  try {
    run(...command(platform, new URL(url).href), options.env);
    return true;
  } catch {
    return false; // no permission to start programs
  }
}

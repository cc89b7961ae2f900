import { accessSync, constants } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { execPath, platform } from "node:process";
import { fileURLToPath } from "node:url";
import { netEntry } from "../../src/wire/net_entry.ts";
import { stablePath } from "../../src/stable_path.ts";
import { VARIABLES } from "../environment.ts";
import { CommandError, EXIT } from "../io.ts";
import type { ServerEntry } from "./entry.ts";

interface LaunchOptions {
  /** Relayers it may talk to, base addresses. */
  readonly relayers: readonly string[];
  readonly credentialsPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags of the package itself. */
  readonly flags: readonly string[];
}

/** This module stands in the bundle itself when the package is bundled. */
const SOURCE = /^(.*\/)cli\/install\/launch\.ts$/;

function isOnPath(program: string, path: string | undefined): boolean {
  return (path ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The program that opens a browser; naming one that does not exist would make Deno complain. */
function opener(env: LaunchOptions["env"]): string[] {
  if (platform === "darwin") return ["--allow-run=open"];
  if (platform === "win32") return ["--allow-run=rundll32"];
  return isOnPath("xdg-open", env.PATH) ? ["--allow-run=xdg-open"] : [];
}

/** A list as Deno's flags want it: nothing in it can quote a comma. */
function listOf(entries: Iterable<string>): string {
  const all = [...entries];
  const wrong = all.find((entry) => entry.includes(","));
  if (wrong === undefined) return all.join(",");
  throw new CommandError(
    EXIT.error,
    `"${wrong}" has a comma: Deno can be given no permission for it. Use Node, or another place ` +
      "for the key (SVC_CREDENTIALS_FILE).",
  );
}

/**
 * The smallest list of Deno permissions the package works with: the relayer, this machine for the
 * sign-in, the folder of the credentials, its variables, and the program that opens a browser.
 *
 * @throws {CommandError} for a folder with a comma.
 */
export function denoPermissions(options: Omit<LaunchOptions, "flags">): string[] {
  const hosts = new Set(["127.0.0.1", "localhost", ...options.relayers.map(netEntry)]);
  const folder = listOf([dirname(options.credentialsPath)]);
  return [
    `--allow-net=${listOf(hosts)}`,
    `--allow-read=${folder}`,
    `--allow-write=${folder}`,
    `--allow-env=${listOf(VARIABLES)}`,
    ...opener(options.env),
  ];
}

/**
 * The command that starts what is running now: the bundle under Deno or Node, the compiled program,
 * or the source.
 */
export function launchCommand(
  options: LaunchOptions,
): Pick<ServerEntry, "command" | "args"> {
  const deno = globalThis.Deno;
  const command = stablePath(execPath, options.env.PATH).path;
  if (deno?.build.standalone) return { command, args: options.flags };
  const url = import.meta.url;
  const root = SOURCE.exec(url)?.[1];
  const script = fileURLToPath(root === undefined ? url : `${root}cli/svc_mcp.ts`);
  if (deno === undefined) return { command, args: [script, ...options.flags] };
  const config = root === undefined
    ? ["--no-config"]
    : ["--config", fileURLToPath(`${root}deno.json`)];
  const run = ["run", "--no-prompt", ...config, ...denoPermissions(options)];
  return { command, args: [...run, script, ...options.flags] };
}

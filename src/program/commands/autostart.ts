import { makePrivateFolder } from "../../storage/private_file.ts";
import { folderOf } from "../../storage/private_file.ts";
import { stablePath } from "../../stable_path.ts";
import { logFileOf } from "../background/log_file.ts";
import { runningLauncher } from "../background/running.ts";
import { type Unit, unitFor } from "../background/units.ts";
import { invalid } from "../invalid.ts";
import { programArgs, PROXIES, REGISTRY, WHOLE_PROGRAM } from "../launcher/child_spec.ts";
import { prepare } from "../launcher/prepare.ts";
import { type Settings, setVariables, stopSeconds } from "../settings/mod.ts";
import { TABLE_VARIABLES } from "../settings/table.ts";
import { type CommandIo, parseFlags, type Printed, readLine, runGroup, UsageError } from "./io.ts";
import { homeFolder } from "../../home_folder.ts";

export const SERVICE_USAGE = `Usage: svc service install [--print] [--yes]
       svc service uninstall [--yes]

Lets this machine start the relayer by itself when you sign in, and again when
it fails: a unit of your own systemd, a launch agent on macOS, a scheduled task
on Windows. It has the settings that are in force now; secrets among them stand
in the file, which only you can read.

  --print  shows the file and the commands, and changes nothing
  --yes    does not ask
  --json   machine output
`;

/** Seconds beyond the drain time that a stop may take. */
const STOP_MARGIN_SECONDS = 15;

/** Variables of this process that the program needs again: its settings, and where things are. */
function kept(io: CommandIo, settings: Settings): Record<string, string> {
  const names = [...settings.given].filter((name) =>
    TABLE_VARIABLES.has(name) || name.startsWith("SVC_") || ["DENO_DIR"].includes(name)
  );
  const given = Object.fromEntries(names.map((name) => [name, io.env[name]!]));
  const all = { ...given, ...setVariables(io.env, [...REGISTRY, ...PROXIES]) };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => a < b ? -1 : 1));
}

function homeOf({ env }: CommandIo): string {
  const home = homeFolder(env);
  if (!home) throw invalid("HOME is needed");
  return home;
}

/** The file for this machine, and what may be wrong about the program's place. */
async function unitOf(io: CommandIo): Promise<{ unit: Unit; warning: string | undefined }> {
  const { settings } = await prepare(io.env, io.cwd);
  const executable = stablePath(Deno.execPath(), io.env.PATH);
  const plan = {
    command: [executable.path, ...programArgs(WHOLE_PROGRAM), "start"],
    env: kept(io, settings),
    cwd: homeOf(io),
    stopSeconds: stopSeconds(settings) + STOP_MARGIN_SECONDS,
    log: logFileOf(settings.dataDir),
  };
  const warning = executable.mayVanish
    ? `${executable.path} is of one version or in a cache: an upgrade may remove it. Install Deno ` +
      "or svc where PATH finds it, and run this again."
    : undefined;
  return { unit: unitFor(Deno.build.os, plan, homeOf(io)), warning };
}

/** Runs commands until one fails. */
async function runAll(commands: readonly (readonly string[])[]): Promise<void> {
  for (const [command = "", ...args] of commands) {
    let said: string;
    try {
      const { success, stderr } = await new Deno.Command(command, { args, stdout: "null" })
        .output();
      if (success) continue;
      said = new TextDecoder().decode(stderr).trim();
    } catch {
      said = "there is no such program";
    }
    throw invalid(`${[command, ...args].join(" ")}: ${said}`);
  }
}

async function isAgreed(
  question: string,
  yes: boolean | undefined,
  io: CommandIo,
): Promise<boolean> {
  if (yes) return true;
  io.writeError(`${question} [y/N] `);
  return /^y(es)?$/i.test(await readLine(io));
}

const commandsOf = (commands: Unit["install"]) =>
  commands.map((words) => `  ${words.join(" ")}\n`).join("");

async function install(
  flags: { print?: boolean | undefined; yes?: boolean | undefined; json?: boolean | undefined },
  io: CommandIo,
): Promise<Printed> {
  const { unit, warning } = await unitOf(io);
  const shown = `${unit.path}:\n\n${unit.text}\nThen:\n${commandsOf(unit.install)}`;
  if (warning !== undefined) io.writeError(`Note: ${warning}\n`);
  if (flags.print) return [{ path: unit.path, text: unit.text, commands: unit.install }, shown];
  if (!flags.json) io.write(`${shown}\n`);
  const { settings } = await prepare(io.env, io.cwd);
  const running = await runningLauncher(settings.dataDir);
  if (running !== undefined) throw invalid(`Process ${running.pid} runs already: svc stop`);
  if (!await isAgreed("Write and start it?", flags.yes, io)) {
    return [{ installed: false }, "Nothing was changed.\n"];
  }
  await makePrivateFolder(folderOf(unit.path.replaceAll("\\", "/")));
  await Deno.writeTextFile(unit.path, unit.text, { mode: 0o600 });
  if (Deno.build.os !== "windows") await Deno.chmod(unit.path, 0o600);
  await runAll(unit.install);
  return [
    { installed: true, path: unit.path },
    "Installed, and started. svc stop ends it until the next sign-in.\n",
  ];
}

async function uninstall(yes: boolean | undefined, io: CommandIo): Promise<Printed> {
  const { unit } = await unitOf(io);
  if (!await Deno.lstat(unit.path).then(() => true, () => false)) {
    throw invalid(`There is no ${unit.path}`);
  }
  if (!await isAgreed(`Stop it and remove ${unit.path}?`, yes, io)) {
    return [{ removed: false }, "Nothing was changed.\n"];
  }
  await runAll(unit.uninstall);
  await Deno.remove(unit.path);
  return [{ removed: true, path: unit.path }, "Removed. Memories and settings are as they were.\n"];
}

/**
 * Runs `svc service …`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runService(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async () => {
    const [action, ...rest] = args;
    const { values, positionals } = parseFlags(rest, {
      print: { type: "boolean" },
      yes: { type: "boolean" },
      json: { type: "boolean" },
    });
    if (positionals.length > 0) throw new UsageError("Unknown argument");
    if (action === "install") return await install(values, io);
    if (action === "uninstall" && !values.print) return await uninstall(values.yes, io);
    throw new UsageError("Say install or uninstall");
  };
  return await runGroup({ usage: SERVICE_USAGE, run }, args, io);
}

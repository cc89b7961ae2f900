import { pause } from "../../deadline.ts";
import { isInUse, runningLauncher } from "../background/running.ts";
import { lastLines, logFileOf, newLines, prepareLog } from "../background/log_file.ts";
import { whoAnswers } from "../doctor/running.ts";
import { invalid } from "../invalid.ts";
import { COMMAND } from "../../wire/version.ts";
import { programArgs, WHOLE_PROGRAM } from "../launcher/child_spec.ts";
import { prepare } from "../launcher/prepare.ts";
import { onStopSignal } from "../process_events.ts";
import { type Settings, setVariables, stopSeconds } from "../settings/mod.ts";
import { type CommandIo, parseFlags, type Printed, runGroup, UsageError } from "./io.ts";

export const START_USAGE = `Usage: svc start [--background]

Starts the relayer, its dashboard and its sidecar, each in a sandbox of its own,
until Ctrl+C.

  --background  goes on without this terminal: \`svc logs\` shows what it says,
                \`svc stop\` ends it. To start it again after a restart of the
                machine: \`svc service install\`
  --json        machine output
`;

export const STOP_USAGE = `Usage: svc stop [--json]

Stops the relayer that runs on this machine, whoever started it: it finishes
what is under way, and takes nothing new. What was accepted goes on at the next
start.
`;

export const LOGS_USAGE = `Usage: svc logs [--follow] [--lines N]

Shows what a relayer in the background said last. It holds no memory and no key.

  --follow   goes on until Ctrl+C
  --lines N  how many lines, 50 if absent
`;

/** Longest wait for a start: the first one fetches packages. */
const START_MS = 120_000;
const POLL_MS = 100;
/** Beyond its own drain time, until a stop counts as failed. */
const STOP_MARGIN_MS = 15_000;

async function settingsOf(io: CommandIo): Promise<Settings> {
  return (await prepare(io.env, io.cwd)).settings;
}

/** Starts a command that goes on without this process, and adds what it says to a file. */
function startDetached(command: readonly string[], log: string, io: CommandIo): Deno.ChildProcess {
  // Only a shell can give a child a file as its output; it becomes the command.
  const [shell, ...args] = Deno.build.os === "windows"
    ? ["cmd", "/d", "/s", "/c", `"${command.map((word) => `"${word}"`).join(" ")} >>"${log}" 2>&1"`]
    : ["/bin/sh", "-c", 'log=$0 && exec "$@" >>"$log" 2>&1', log, ...command];
  const child = new Deno.Command(shell!, {
    args,
    cwd: io.cwd,
    env: setVariables(io.env),
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
    windowsRawArguments: true,
  }).spawn();
  child.unref();
  return child;
}

async function background(io: CommandIo): Promise<Printed> {
  const settings = await settingsOf(io);
  const running = await runningLauncher(settings.dataDir);
  if (running !== undefined) throw invalid(`It runs already, as process ${running.pid}: svc stop`);
  const log = logFileOf(settings.dataDir);
  await prepareLog(log);
  const child = startDetached([Deno.execPath(), ...programArgs(WHOLE_PROGRAM), "start"], log, io);
  let ended = false;
  void child.status.then(() => ended = true);
  const end = Date.now() + START_MS;
  for (;;) {
    const answer = await whoAnswers(settings);
    if (answer.who === "relayer") {
      const found = { pid: child.pid, address: answer.address, log };
      return [
        found,
        `The relayer runs at http://${answer.address}, as process ${child.pid}.\n` +
        `  ${COMMAND} logs   what it says, from ${log}\n  ${COMMAND} stop   ends it\n`,
      ];
    }
    if (ended || Date.now() > end || answer.who === "unknown") break;
    await pause(POLL_MS);
  }
  const said = (await lastLines(log, 5)).trim();
  throw invalid(`It did not start:\n${said || `see ${log}`}`);
}

async function stop(io: CommandIo): Promise<Printed> {
  const settings = await settingsOf(io);
  const { dataDir } = settings;
  const running = await runningLauncher(dataDir);
  if (running === undefined) {
    if (await isInUse(dataDir)) {
      throw invalid(`A relayer uses ${dataDir} that was started by other means: stop it there`);
    }
    return [{ stopped: false }, "Nothing runs.\n"];
  }
  Deno.kill(running.pid, "SIGTERM");
  const end = Date.now() + stopSeconds(settings) * 1000 + STOP_MARGIN_MS;
  while (await isInUse(dataDir)) {
    if (Date.now() > end) throw invalid(`Process ${running.pid} has not ended yet`);
    await pause(POLL_MS);
  }
  return [{ stopped: true, pid: running.pid }, "Stopped.\n"];
}

/**
 * Runs `svc start --background`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runInBackground(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async () => {
    const flags = { background: { type: "boolean" }, json: { type: "boolean" } } as const;
    const { positionals } = parseFlags(args, flags);
    if (positionals.length > 0) throw new UsageError("Unknown argument");
    return await background(io);
  };
  return await runGroup({ usage: START_USAGE, run }, args, io);
}

/** Runs `svc stop`; exit codes as {@linkcode runInBackground}. */
export async function runStop(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async () => {
    if (parseFlags(args, { json: { type: "boolean" } }).positionals.length > 0) {
      throw new UsageError("Unknown argument");
    }
    return await stop(io);
  };
  return await runGroup({ usage: STOP_USAGE, run }, ["stop", ...args], io);
}

/** Runs `svc logs`; exit codes as {@linkcode runInBackground}. */
export async function runLogs(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async (): Promise<Printed> => {
    const flags = { follow: { type: "boolean", short: "f" }, lines: { type: "string" } } as const;
    const { values, positionals } = parseFlags(args, flags);
    const count = Number(values.lines ?? 50);
    if (positionals.length > 0) throw new UsageError("Unknown argument");
    if (!Number.isInteger(count) || count < 0) throw new UsageError("--lines: a whole number");
    const path = logFileOf((await settingsOf(io)).dataDir);
    const text = await lastLines(path, count).catch(() => {
      throw invalid(`There is no ${path}: only a relayer in the background writes it`);
    });
    if (!values.follow) return [{ log: path }, text];
    io.write(text);
    const over = new AbortController();
    using _signals = onStopSignal(() => over.abort());
    for await (const lines of newLines(path, over.signal)) io.write(lines);
    return [{ log: path }, ""];
  };
  return await runGroup({ usage: LOGS_USAGE, run }, ["logs", ...args], io);
}

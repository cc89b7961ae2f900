import "./platform.ts";
import process from "node:process";
import { Readable } from "node:stream";
import { credentialsPath, readCredentials } from "../src/client/credentials_file.ts";
import { noProxyHere } from "../src/client/no_proxy.ts";
import { createLogger } from "../src/log.ts";
import { VERSION } from "../src/wire/version.ts";
import { Bridge } from "./bridge/bridge.ts";
import { VARIABLES } from "./environment.ts";
import { haveAgeInside } from "./memories/bundle/age_library.ts";
import { install } from "./install/mod.ts";
import type { CliIo } from "./io.ts";
import { openBrowser, openLoginRequests } from "./login/mod.ts";
import { resolveSettings, type Settings } from "./settings.ts";
import { startOf } from "./start.ts";

/** Longest wait for a host that does not read what is left for it, in milliseconds. */
const LAST_WORDS_MS = 2000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Keeps a log that nobody reads any more from ending the program. */
function ignoreErrors(stream: NodeJS.WritableStream): void {
  stream.on("error", () => undefined);
}

/** Whether standard output did not take all of the output; of the whole process, as that is. */
let isCutShort = false;

function noteLoss(error: (Error & { readonly code?: string }) | null | undefined): void {
  if (!error || error.code === "EPIPE" || isCutShort) return;
  isCutShort = true;
  process.stderr.write(`The output could not be written (${error.code ?? "unknown reason"}).\n`);
}

function writeOut(text: string): void {
  try {
    process.stdout.write(text, noteLoss);
  } catch (error) {
    // Deno throws where Node calls back.
    noteLoss(error as Error);
  }
}

async function runCommand(args: readonly string[], env: Environment): Promise<number> {
  const { runCli } = await import("./mod.ts");
  ignoreErrors(process.stdout); // `noteLoss` hears of them.
  const io: CliIo = {
    env,
    stdin: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    write: writeOut,
    isTerminal: process.stdout.isTTY === true,
    // A terminal that does not say how wide it is says 0.
    columns: process.stdout.columns || undefined,
    writeError: (text) => void process.stderr.write(text),
    isErrorTerminal: process.stderr.isTTY === true,
    isInputTerminal: process.stdin.isTTY === true,
    hideTyping: (isHidden) => void process.stdin.setRawMode(isHidden),
  };
  haveAgeInside(() => import("age-encryption"));
  return await runCli(args, io, { install });
}

async function runBridge(
  args: readonly string[],
  env: Environment,
  settings: Settings,
): Promise<number> {
  const bridge = new Bridge({
    args,
    env,
    input: process.stdin,
    write: (line) => void process.stdout.write(line),
    credentialsPath: credentialsPath(env),
    openLogins: (path) => openLoginRequests({ credentialsPath: path }),
    openBrowser: (url) => openBrowser(url, { env }),
    version: VERSION,
    logger: createLogger({
      level: settings.debug ? "debug" : "info",
      format: "json",
      write: (line) => void process.stderr.write(line),
    }),
  });
  // A host that is gone reads nothing; what is left is to end the session.
  const leave = (): void => void bridge.close().finally(() => process.exit(0));
  process.stdout.on("error", leave);
  // The last comes when a terminal is closed in which the host runs.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, leave);
  await bridge.run();
  // A host that has gone may have left its end of standard output open and full.
  setTimeout(() => process.exit(0), LAST_WORDS_MS).unref();
  return 0;
}

async function isSignedIn(env: Environment): Promise<boolean> {
  const path = credentialsPath(env);
  return path !== undefined && (await readCredentials(path)).credentials !== undefined;
}

/** A variable; one that Deno's permissions hide counts as not set. */
function variable(name: string): string | undefined {
  try {
    return process.env[name];
  } catch {
    return undefined;
  }
}

/** Before the first request: Deno looks for proxies once. */
function stayOnThisMachine(env: Environment): void {
  try {
    process.env.NO_PROXY = noProxyHere(env);
  } catch {
    // Not allowed, which `install` would have done.
  }
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const env = Object.fromEntries(VARIABLES.map((name) => [name, variable(name)]));
  stayOnThisMachine(env);
  ignoreErrors(process.stderr);
  const settings = resolveSettings({ args, env });
  const isTerminal = process.stdin.isTTY === true;
  const start = startOf(args, settings, isTerminal, isTerminal && await isSignedIn(env));
  return start.does === "bridge"
    ? await runBridge(args, env, settings)
    : await runCommand(start.args, env);
}

const code = await main();
const leave = (): never => process.exit(isCutShort ? code || 1 : code);
// What was written is delivered first; what still waits must not keep the program alive.
if (isCutShort) leave();
else process.stdout.write("", leave);

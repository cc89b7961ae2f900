import { invalid } from "../invalid.ts";
import { SvcError } from "../../errors.ts";
import type { Sponsor } from "../../interfaces/mod.ts";
import { EXIT_CONFIG, parseRelayerBoot, parseSidecarBoot, sidecarBoot } from "../launcher/boot.ts";
import { readLeash } from "../launcher/leash.ts";
import { inspect, prepare, type Prepared } from "../launcher/prepare.ts";
import { printPermissions, runLauncher } from "../launcher/start.ts";
import { createLogger, errorFields, type Logger } from "../../log.ts";
import { RelayerKey } from "../../sealing/relayer_key.ts";
import { makeFirstAccount } from "../first_account.ts";
import { loadRelayerKey, runCommand } from "../key_source.ts";
import {
  configurationMarkdown,
  printConfig,
  readSettings,
  type Settings,
  setVariables,
} from "../settings/mod.ts";
import { formatHost } from "../settings/parsers.ts";
import { EMPTY } from "../settings/plugin_settings.ts";
import { type Sidecar, type SidecarBoot, startSidecar } from "../../mcp/process.ts";
import { openSponsor } from "../plugins.ts";
import { noteStrayFailures, onStopSignal } from "../process_events.ts";
import type { CommandIo } from "./io.ts";

/** The world outside of a command that runs until it is stopped. */
export interface ProcessIo extends CommandIo {
  readonly stdin: ReadableStream<Uint8Array>;
  exit(code: number): void;
}

function loggerOf(settings: Pick<Settings, "logFormat" | "logLevel">, io: CommandIo): Logger {
  const { logFormat: format, logLevel: level } = settings;
  return createLogger({ format, level, write: (line) => io.writeError(line) });
}

/** Reports anything thrown at start and answers the exit code it means. */
function report(thrown: unknown, io: CommandIo): number {
  const error = SvcError.from(thrown);
  io.writeError(`${error.message}\n`);
  if (error.cause !== undefined) {
    const { error: name, at } = errorFields(error.cause);
    io.writeError(`  (${name}${at === undefined ? "" : ` at ${at}`})\n`);
  }
  // These errors stay until somebody changes something: the launcher must not try again.
  return error.code === "invalid_parameter" ||
      error.retryable === false && error.code !== "internal_error"
    ? EXIT_CONFIG
    : 1;
}

/** First line of a child's input. Without its launcher nobody could stop a child: it ends, too. */
async function startLine(io: ProcessIo): Promise<string> {
  const leash = await readLeash(io.stdin);
  void leash.ended.then(() => io.exit(1));
  return leash.line;
}

async function start(io: ProcessIo): Promise<number> {
  const prepared = await prepare(io.env, io.cwd);
  await makeFirstAccount(prepared.settings, io);
  return await runLauncher(prepared, io.env, loggerOf(prepared.settings, io));
}

/** The relayer, as a child of the launcher or by itself. */
async function serve(io: ProcessIo, isChild: boolean): Promise<number> {
  const boot = isChild ? parseRelayerBoot(await startLine(io)) : undefined;
  const env = boot?.env ?? io.env;
  // The launcher has reported all problems and warnings already.
  const { settings, problems, warnings } = boot ? readSettings(env) : await inspect(env, io.cwd);
  if (problems.length > 0) throw invalid(problems.join("\n"));
  const logger = loggerOf(settings, io);
  let key: RelayerKey;
  if (boot) key = new RelayerKey(Uint8Array.fromHex(boot.relayerKey));
  else {
    const loaded = await loadRelayerKey(settings, runCommand);
    for (const line of [...warnings, ...loaded.warnings]) {
      logger.warn("settings", { reason: line });
    }
    key = loaded.key;
  }
  // Imported here, so that other commands do not load the whole relayer.
  const { serveRelayer } = await import("../serve.ts");
  const write = (text: string) => {
    try {
      io.write(text);
    } catch {
      // The relayer goes on when nobody reads its output, as after a closed pipe.
    }
  };
  await serveRelayer({ settings, env, key, logger, internalUrl: boot?.internalUrl, write });
  return 0;
}

/** What a sidecar loses by calling the relayer's public address, without a launcher. */
const BY_HAND = "its calls count as this machine's, so that all MCP clients share one limit of " +
  "account look-ups; session limits count clients";

/** The start line of a sidecar that is started by hand. */
function bootByHand({ env, cwd }: ProcessIo): SidecarBoot {
  const { settings, problems } = readSettings(env, { cwd });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  const token = settings.sidecarToken?.reveal();
  if (token === undefined) throw invalid("SIDECAR_AUTH_TOKEN is needed");
  const { host, port, sponsor: name, tlsCertFile } = settings;
  if (tlsCertFile !== undefined) {
    throw invalid(
      "SVC_TLS_CERT_FILE: a sidecar started by hand calls the relayer without TLS; use start",
    );
  }
  // The sponsor's plugin gets the whole environment.
  const sponsor = name === EMPTY.sponsor ? undefined : { name, env: setVariables(env) };
  const boot = sidecarBoot(settings, token, `http://${formatHost(host)}:${port}`, sponsor);
  return { ...boot, isInternal: false };
}

/** The sidecar, as a child of the launcher or by itself. */
async function sidecar(io: ProcessIo, isChild: boolean): Promise<number> {
  const stopped = Promise.withResolvers<void>();
  const boot = isChild ? parseSidecarBoot(await startLine(io)) : bootByHand(io);
  using _signals = onStopSignal(() => stopped.resolve());
  const logger = loggerOf(boot, io);
  using _stray = noteStrayFailures(logger);
  await using opened = new AsyncDisposableStack();
  // MCP is served while the sponsor opens, and also when that fails.
  const sponsor = boot.sponsor && openSponsor(boot.sponsor, logger);
  opened.defer(async () => {
    await (await sponsor?.catch(() => undefined))?.[Symbol.asyncDispose]();
  });
  await using listening = listen(boot, logger, sponsor);
  logger.info("sidecar listening", { port: listening.port });
  if (!isChild) logger.warn("started by hand", { reason: BY_HAND });
  await stopped.promise;
  return 0;
}

function listen(
  boot: SidecarBoot,
  logger: Logger,
  sponsor: Promise<Sponsor> | undefined,
): Sidecar {
  try {
    return startSidecar(boot, logger, sponsor);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    // May pass: the port can become free, and the relayer trusts no other program behind it.
    throw new SvcError("sidecar_unavailable", `SIDECAR_URL: ${boot.url} is in use`, { cause });
  }
}

/** Writes what is said about the settings and their plugins, and their problems as errors. */
async function print(io: CommandIo, say: (prepared: Prepared) => string): Promise<number> {
  const prepared = await inspect(io.env, io.cwd);
  const { problems, warnings } = prepared;
  for (const line of [...problems, ...warnings]) io.writeError(`${line}\n`);
  io.write(say(prepared));
  return problems.length > 0 ? EXIT_CONFIG : 0;
}

const COMMANDS: Readonly<Record<string, (io: ProcessIo, isChild: boolean) => Promise<number>>> = {
  start,
  serve,
  sidecar,
  "--print-config": (io) => print(io, (prepared) => printConfig(prepared, io.env)),
  "--print-settings": (io) =>
    print(io, ({ castings }) => configurationMarkdown(castings.map(({ plugin }) => plugin))),
  async "--print-permissions"(io) {
    io.write(await printPermissions(await prepare(io.env, io.cwd), io.env));
    return 0;
  },
};

/**
 * Runs a command of the relayer, or of its settings.
 *
 * @param isChild Whether the launcher runs it, and sends the first line of its input.
 * @returns the exit code; `undefined` when there is no such command.
 */
export async function runRelayer(
  command: string,
  isChild: boolean,
  io: ProcessIo,
): Promise<number | undefined> {
  if (!Object.hasOwn(COMMANDS, command) || isChild && command === "start") return undefined;
  try {
    return await COMMANDS[command]!(io, isChild);
  } catch (thrown) {
    return report(thrown, io);
  }
}

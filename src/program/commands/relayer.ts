import { SvcError } from "../../errors.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { Sponsor } from "../../interfaces/mod.ts";
import { EXIT_CONFIG, parseRelayerBoot, parseSidecarBoot, sidecarBoot } from "../launcher/boot.ts";
import { readLeash } from "../launcher/leash.ts";
import { inspect, prepare, type Prepared } from "../launcher/prepare.ts";
import { printPermissions, runLauncher } from "../launcher/start.ts";
import { createLogger, errorFields, type Logger } from "../../log.ts";
import { RelayerKey } from "../../sealing/relayer_key.ts";
import { loadRelayerKey, runCommand } from "../key_source.ts";
import {
  configurationMarkdown,
  printConfig,
  readSettings,
  type Settings,
} from "../settings/mod.ts";
import { formatHost } from "../settings/parsers.ts";
import { EMPTY } from "../settings/plugin_names.ts";
import {
  type Sidecar,
  type SidecarBoot,
  type SponsorBoot,
  startSidecar,
} from "../../mcp/process.ts";
import { openSponsor } from "../plugins.ts";
import { onStopSignal } from "../stop_signal.ts";
import { noteStrayFailures } from "../stray_failures.ts";
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

async function guarded(io: CommandIo, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    return report(thrown, io);
  }
}

export function runStart(io: ProcessIo): Promise<number> {
  return guarded(io, async () => {
    const prepared = await prepare(io.env, io.cwd);
    return await runLauncher(prepared, io.env, loggerOf(prepared.settings, io));
  });
}

/** `serve`: the relayer, as a child of the launcher or by itself. */
export function runServe(bootStdin: boolean, io: ProcessIo): Promise<number> {
  return guarded(io, async () => {
    let env = io.env;
    let key: RelayerKey | undefined;
    let internalUrl: string | undefined;
    if (bootStdin) {
      const leash = await readLeash(io.stdin);
      // Without its launcher nobody could stop this process: it ends as in a crash.
      void leash.ended.then(() => io.exit(1));
      const boot = parseRelayerBoot(leash.line);
      env = boot.env;
      internalUrl = boot.internalUrl;
      key = new RelayerKey(Uint8Array.fromHex(boot.relayerKey));
    }
    // The launcher has reported all problems and warnings already.
    const { settings, problems, warnings } = bootStdin
      ? readSettings(env)
      : await inspect(env, io.cwd);
    if (problems.length > 0) throw new SvcError("invalid_parameter", problems.join("\n"));
    const logger = loggerOf(settings, io);
    if (key === undefined) {
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
    await serveRelayer({ settings, env, key, logger, internalUrl, write });
    return 0;
  });
}

/** What a sidecar loses by calling the relayer's public address, without a launcher. */
const BY_HAND = "its calls count as this machine's, so that all MCP clients share one limit of " +
  "account look-ups; session limits count clients";

/** `sidecar`: the sidecar, as a child of the launcher or by itself. */
export function runSidecar(bootStdin: boolean, io: ProcessIo): Promise<number> {
  return guarded(io, async () => {
    const stopped = Promise.withResolvers<void>();
    let boot: SidecarBoot;
    if (bootStdin) {
      const leash = await readLeash(io.stdin);
      void leash.ended.then(() => io.exit(1));
      boot = parseSidecarBoot(leash.line);
    } else {
      const { settings, problems } = readSettings(io.env, { cwd: io.cwd });
      const token = settings.sidecarToken?.reveal();
      if (problems.length > 0) throw new SvcError("invalid_parameter", problems.join("\n"));
      if (token === undefined) {
        throw new SvcError("invalid_parameter", "SIDECAR_AUTH_TOKEN is needed");
      }
      boot = sidecarBoot(settings, token, ownUrl(settings), sponsorOf(settings, io.env));
    }
    using _signals = onStopSignal(() => stopped.resolve());
    const logger = loggerOf(boot, io);
    using _stray = noteStrayFailures(logger);
    await using opened = openSponsorOf(boot, logger);
    await using sidecar = listen(boot, logger, opened.sponsor);
    logger.info("sidecar listening", { port: sidecar.port });
    if (!bootStdin) logger.warn("started by hand", { reason: BY_HAND });
    await stopped.promise;
    return 0;
  });
}

/** Public address of the relayer, for a sidecar without a launcher. */
function ownUrl({ host, port }: Settings): string {
  return `http://${formatHost(host)}:${port}`;
}

/** The sponsor of a sidecar started by hand; its plugin gets the whole environment. */
function sponsorOf({ sponsor }: Settings, env: Env): SponsorBoot | undefined {
  if (sponsor === EMPTY.sponsor) return undefined;
  const set = Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]);
  return { name: sponsor, env: Object.fromEntries(set) };
}

interface OpenedSponsor extends AsyncDisposable {
  readonly sponsor: Promise<Sponsor> | undefined;
}

/** Opens the sponsor while MCP is served already, and goes on when that fails. */
function openSponsorOf({ sponsor }: SidecarBoot, logger: Logger): OpenedSponsor {
  const opening = sponsor && openSponsor(sponsor, logger);
  return {
    sponsor: opening,
    async [Symbol.asyncDispose]() {
      await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
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
function print(io: CommandIo, say: (prepared: Prepared) => string): Promise<number> {
  return guarded(io, async () => {
    const prepared = await inspect(io.env, io.cwd);
    const { problems, warnings } = prepared;
    for (const line of [...problems, ...warnings]) io.writeError(`${line}\n`);
    io.write(say(prepared));
    return problems.length > 0 ? EXIT_CONFIG : 0;
  });
}

export function runPrintConfig(io: CommandIo): Promise<number> {
  return print(io, (prepared) => printConfig(prepared, io.env));
}

export function runPrintSettings(io: CommandIo): Promise<number> {
  return print(
    io,
    ({ castings }) => configurationMarkdown(castings.map(({ plugin }) => plugin)),
  );
}

export function runPrintPermissions(io: CommandIo): Promise<number> {
  return guarded(io, async () => {
    io.write(await printPermissions(await prepare(io.env, io.cwd), io.env));
    return 0;
  });
}

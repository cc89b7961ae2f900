import { pause, within } from "../../deadline.ts";
import type { Logger } from "../../log.ts";
import { EXIT_CONFIG } from "./boot.ts";

export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** First line of its standard input, which then stays open as its leash; asked at each start. */
  readonly boot: () => string | Promise<string>;
}

export interface SupervisorOptions {
  readonly logger: Logger;
  /** Waits, or returns early once the signal is aborted. */
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now?: () => number;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** A child that ran this long was healthy: its next death starts the backoff anew. */
const HEALTHY_MS = 60_000;

/** Stands for the exit code of a child that could not be started (`EX_OSERR`). */
const EXIT_UNSTARTED = 71;

/** Pause before the next start after some quick deaths in a row, milliseconds. */
export function restartPause(deaths: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** deaths, LONGEST_PAUSE_MS);
}

export class Supervisor {
  readonly #spec: ChildSpec;
  readonly #options: Required<SupervisorOptions>;
  readonly #stopping = new AbortController();
  #running: Deno.ChildProcess | undefined;
  #first: Deno.ChildProcess | undefined;
  #last = false;

  constructor(spec: ChildSpec, options: SupervisorOptions) {
    this.#spec = spec;
    this.#options = { delay: pause, now: () => performance.now(), ...options };
  }

  /**
   * Starts the first child at once, so that its failure is thrown here; to be called right before
   * {@linkcode run}.
   *
   * @throws what the system says when it cannot be started.
   */
  start(): void {
    this.#first = this.#spawn();
  }

  /**
   * Starts the child, and again whenever it dies.
   *
   * @returns the last child's exit code, once stopped or once a child ends with
   * {@linkcode EXIT_CONFIG}.
   * @throws what the system says when the first start fails; later ones, for which there may be no
   * room at the moment, are tried again.
   */
  async run(): Promise<number> {
    const { signal } = this.#stopping;
    const { logger, delay, now } = this.#options;
    let deaths = 0;
    let code = 0;
    while (!signal.aborted) {
      const start = now();
      try {
        code = await this.#runOnce();
      } catch (error) {
        if (deaths === 0) throw error;
        code = EXIT_UNSTARTED;
      }
      if (signal.aborted || this.#last || code === EXIT_CONFIG) break;
      if (now() - start >= HEALTHY_MS) deaths = 0;
      const ms = restartPause(deaths++);
      const fields = { process: this.#spec.name, exit_code: code, delay_ms: ms };
      logger.warn("child process ended; starting it again", fields);
      await delay(ms, signal);
    }
    return code;
  }

  /** Leaves a child that runs alone, and starts no other after it. */
  startNoMore(): void {
    this.#last = true;
  }

  /**
   * Passes a signal on, once, and ends what is still running after the grace time.
   *
   * @param graceMs Milliseconds before the child is killed.
   */
  async stop(name: Deno.Signal, graceMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    const child = this.#running;
    if (child === undefined) return;
    send(child, name);
    await within(graceMs, child.status, () => send(child, "SIGKILL"));
    await child.status;
  }

  #spawn(): Deno.ChildProcess {
    const { name, command, args, env } = this.#spec;
    const child = new Deno.Command(command, {
      args: [...args],
      env: { ...env },
      clearEnv: true,
      stdin: "piped",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    this.#running = child;
    this.#options.logger.debug("child process started", { process: name, pid: child.pid });
    return child;
  }

  async #runOnce(): Promise<number> {
    const boot = await this.#spec.boot();
    const child = this.#first ?? this.#spawn();
    this.#first = undefined;
    const leash = child.stdin.getWriter();
    // Fails when the child is dead already, which its status tells.
    await leash.write(new TextEncoder().encode(boot + "\n")).catch(() => undefined);
    const { code } = await child.status;
    await leash.close().catch(() => undefined);
    this.#running = undefined;
    return code;
  }
}

function send(child: Deno.ChildProcess, name: Deno.Signal): void {
  try {
    child.kill(name);
  } catch {
    // It ended in between.
  }
}

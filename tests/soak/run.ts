import { openProgram } from "../mcp_program.ts";
import { inHome } from "../program.ts";
import { type Sample, type Timing, type Verdict, verdictsOf } from "./figures.ts";
import { send, type Sender, senderOf } from "./traffic.ts";

export interface SoakOptions {
  readonly seconds: number;
  /** Memories that are there all the time. */
  readonly memories: number;
  /** Requests a second. */
  readonly rate: number;
  /** Seconds between two looks at memory and descriptors. */
  readonly every: number;
  /** Ends the run early. */
  readonly signal: AbortSignal;
  /** Variables of the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** Is shown every sample. */
  readonly onSample?: (sample: Sample, requests: number) => void;
}

export interface SoakResult {
  readonly seconds: number;
  readonly requests: number;
  /** Requests that failed, and how often, in words. */
  readonly failures: ReadonlyMap<string, number>;
  readonly samples: readonly Sample[];
  readonly verdicts: readonly Verdict[];
}

/** Limits that no request of the run meets. */
const ENV = {
  SVC_EMBEDDER: "use-lite",
  SVC_RATE_LIMIT_KEY_PER_MINUTE: "1000000",
  SVC_RATE_LIMIT_ACCOUNT_PER_HOUR: "100000000",
  MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "100000",
  MCP_MAX_SESSIONS_PER_IP: "200",
};
/** Requests under way at once, at most: a program that stands still is not buried. */
const MOST_UNDER_WAY = 100;

async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1024;
}

async function descriptorsOf(pid: number): Promise<number> {
  let count = 0;
  for await (const _ of Deno.readDir(`/proc/${pid}/fd`)) count++;
  return count;
}

/** Resolves after some milliseconds, or when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, ms));
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

/** The requests of a run, at a fixed rate, whether or not earlier ones are answered. */
class Traffic {
  readonly timings: Timing[] = [];
  readonly failures = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  requests = 0;

  async run(sender: Sender, { rate }: SoakOptions, begin: number, signal: AbortSignal) {
    for (let due = begin; !signal.aborted; due += 1000 / rate) {
      await pause(due - performance.now(), signal);
      if (this.#underWay.size >= MOST_UNDER_WAY) this.#count("too many are under way");
      else this.#send(sender, begin);
    }
    await Promise.all(this.#underWay);
  }

  #send(sender: Sender, begin: number): void {
    const sent = performance.now();
    const done = send(sender, this.requests++).then(({ isTimed }) => {
      if (!isTimed) return;
      this.timings.push({ at: (sent - begin) / 1000, ms: performance.now() - sent });
    }, (error) => this.#count(String(error)))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  #count(failure: string): void {
    const words = failure.slice(0, 300);
    this.failures.set(words, (this.failures.get(words) ?? 0) + 1);
  }
}

/**
 * Runs the whole program, as its users start it, under a steady load with as much data at the end as
 * at the beginning, and looks at what grows.
 */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const result = Promise.withResolvers<SoakResult>();
  await inHome(async (home) => {
    const opened = await openProgram(home, { ...ENV, ...options.env });
    await using _program = opened.program;
    const sender = await senderOf(opened, options.memories);
    const begin = performance.now();
    const since = () => (performance.now() - begin) / 1000;
    const timeout = AbortSignal.timeout(options.seconds * 1000);
    const signal = AbortSignal.any([options.signal, timeout]);
    const traffic = new Traffic();
    const sending = traffic.run(sender, options, begin, signal);
    const samples: Sample[] = [];
    while (!signal.aborted) {
      await pause(options.every * 1000, signal);
      const { relayer, sidecar } = opened;
      const sample = {
        at: since(),
        relayerMiB: await residentMiB(relayer),
        sidecarMiB: await residentMiB(sidecar),
        descriptors: await descriptorsOf(relayer) + await descriptorsOf(sidecar),
      };
      samples.push(sample);
      options.onSample?.(sample, traffic.requests);
    }
    await sending;
    const { requests, failures, timings } = traffic;
    const seconds = since();
    const verdicts = verdictsOf(seconds, samples, timings);
    result.resolve({ seconds, requests, failures, samples, verdicts });
  });
  return await result.promise;
}

import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { Random } from "../contracts/differential/random.ts";
import { type OpenProgram, openProgram } from "../mcp_program.ts";
import { inHome } from "../program.ts";
import { TestKey } from "../relayer_fixture.ts";
import { faultOf } from "./answer.ts";
import { type FuzzRequest, nextRequest, ORIGIN, type Target } from "./requests.ts";

export interface FuzzOptions {
  /** Equal seeds send equal requests, but for ids, nonces and times. */
  readonly seed: number;
  readonly requests: number;
  /** Requests under way at once. */
  readonly clients: number;
  /** Is shown every so often how many were sent, and what the relayer takes. */
  readonly onProgress?: (sent: number, residentMiB: number) => void;
}

export interface FuzzResult {
  /** Answers by kind of request and status. */
  readonly answers: ReadonlyMap<string, number>;
  /** What is wrong, with the request that showed it. */
  readonly faults: readonly string[];
  /** Longest time that `GET /version` took meanwhile, milliseconds. */
  readonly longestMs: number;
  /** How much more memory the relayer took in the end than after the first tenth, MiB. */
  readonly grownMiB: number;
}

const ENV = {
  SVC_EMBEDDER: "memory",
  SVC_RATE_LIMIT_KEY_PER_MINUTE: "1000000",
  SVC_RATE_LIMIT_ACCOUNT_PER_HOUR: "100000000",
  MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "1000000",
  SVC_LOG_LEVEL: "debug",
  SVC_WEB_URL: ORIGIN,
};
const CANARY = "The heron of Ljubljana keeps seventeen lanterns";
const PROBE_EVERY_MS = 50;
/** A stream that says nothing is left after this time. */
const STREAM_MS = 150;
/** A whole answer takes no longer. */
const ANSWER_MS = 20_000;
const MOST_FAULTS = 20;

async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1024;
}

/** Closes a connection, whether or not that has happened. */
function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It is closed.
  }
}

/** Sends a request as it is; answers what came until the end, or until a stream had its time. */
async function exchange(port: number, { bytes, isStream }: FuzzRequest): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const timer = setTimeout(() => close(connection), isStream ? STREAM_MS : ANSWER_MS);
  const began = performance.now();
  let answer = "";
  try {
    // What the other end does not take any more may still be answered.
    const sent = writeAll(connection, bytes).catch(() => {});
    const decoder = new TextDecoder("latin1");
    const buffer = new Uint8Array(65_536);
    for (let count; (count = await connection.read(buffer)) !== null;) {
      answer += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
    await sent;
  } catch (error) {
    const isLate = !isStream && performance.now() - began >= ANSWER_MS;
    if (isLate) throw new Error(`no end after ${ANSWER_MS} ms`, { cause: error });
  } finally {
    clearTimeout(timer);
    close(connection);
  }
  return answer;
}

async function writeAll(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = Uint8Array.from(text, (unit) => unit.charCodeAt(0));
  for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
}

async function openSession({ base, headers }: OpenProgram): Promise<string> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "fuzz", version: "1" },
  };
  const response = await fetch(`${base}/api/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

/** A stream over SSE that is read until it is disposed of, and the path that takes its messages. */
class SseStream implements AsyncDisposable {
  readonly #ending = new AbortController();
  #reading: Promise<unknown> = Promise.resolve();

  async open({ base, headers }: OpenProgram): Promise<string> {
    const { signal } = this.#ending;
    const response = await fetch(`${base}/api/mcp/sse`, { headers, signal });
    const path = Promise.withResolvers<string>();
    const read = async () => {
      let text = "";
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        text = (text + piece).slice(-4000);
        const found = /data: (\/\S+)/.exec(text)?.[1];
        if (found !== undefined) path.resolve(found);
      }
    };
    this.#reading = read().catch(() => {});
    return await path.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#reading;
  }
}

/** Sends what a hostile client might, and looks at every answer. */
class Fuzz {
  readonly answers = new Map<string, number>();
  readonly faults: string[] = [];
  longestMs = 0;
  #sent = 0;
  #early: number | undefined;
  readonly #random: Random;
  readonly #options: FuzzOptions;

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  get isOver(): boolean {
    return this.#sent >= this.#options.requests || this.faults.length >= MOST_FAULTS;
  }

  /** Sends requests one after the other, until there were enough of everybody's. */
  async send(target: Target, relayer: number): Promise<void> {
    const port = Number(target.host.split(":")[1]);
    const { requests, onProgress } = this.#options;
    while (!this.isOver) {
      const number = ++this.#sent;
      const request = nextRequest(target, this.#random);
      try {
        const answer = await exchange(port, request);
        const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? "closed";
        const name = `${request.kind} ${status}`;
        this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
        const fault = faultOf(answer, request.bytes.startsWith("HEAD "));
        if (fault !== undefined) this.#fault(fault, number, request, answer);
      } catch (error) {
        this.#fault(String(error), number, request, "");
      }
      if (number % Math.ceil(requests / 10) !== 0) continue;
      const resident = await residentMiB(relayer);
      this.#early ??= resident;
      onProgress?.(number, resident);
    }
  }

  #fault(fault: string, number: number, { kind, bytes }: FuzzRequest, answer: string): void {
    const shown = JSON.stringify(bytes.slice(0, 1500));
    this.faults.push(`${fault}\n  request ${number}, ${kind}: ${shown}\n  ${answer.slice(0, 600)}`);
  }

  /** Asks all the time how long anything takes. */
  async probe(base: string): Promise<void> {
    while (!this.isOver) {
      const began = performance.now();
      const response = await fetch(`${base}/version`);
      await response.text();
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
    }
  }

  async grownMiB(relayer: number): Promise<number> {
    return await residentMiB(relayer) - (this.#early ?? NaN);
  }
}

/** What must be true whatever was sent: the memory is there, and nothing secret was logged. */
async function checkAfterwards(
  client: SvcClient,
  { program, secret, relayer }: OpenProgram,
  answers: ReadonlyMap<string, number>,
): Promise<string[]> {
  const faults: string[] = [];
  const { results } = await client.recall("What keeps the heron?", { namespace: "canary" });
  if (!results.some(({ text }) => text === CANARY)) faults.push("the memory is lost");
  const log = program.errors.join("\n");
  for (const word of ["Ljubljana", secret]) {
    if (log.includes(word)) faults.push(`the log holds ${word.slice(0, 9)}`);
  }
  await Deno.stat(`/proc/${relayer}`).catch(() => faults.push("the relayer has ended"));
  const good = [...answers].filter(([name]) => / 20\d$/.test(name));
  if (good.length === 0) faults.push("no request was good: nothing was tried behind the checks");
  return faults;
}

/** Starts the whole program, and sends it requests that a hostile client might. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const result = Promise.withResolvers<FuzzResult>();
  await inHome(async (home) => {
    const opened = await openProgram(home, ENV);
    await using _program = opened.program;
    const { base, headers, secret, relayer } = opened;
    const accountId = headers["x-svc-account-id"] ?? "";
    const client = new SvcClient({ baseUrl: base, privateKey: secret, accountId });
    const { job_id } = await client.remember(CANARY, { namespace: "canary" });
    assert.equal((await client.waitFor(job_id)).recallable, true);
    await using stream = new SseStream();
    const target: Target = {
      host: new URL(base).host,
      key: new TestKey(Uint8Array.fromHex(secret)),
      accountId,
      bearer: secret,
      session: await openSession(opened),
      messages: await stream.open(opened),
    };
    const fuzz = new Fuzz(options);
    const clients = Array.from({ length: options.clients }, () => fuzz.send(target, relayer));
    await Promise.all([...clients, fuzz.probe(base)]);
    const { answers, longestMs } = fuzz;
    const grownMiB = await fuzz.grownMiB(relayer);
    const faults = [...fuzz.faults, ...await checkAfterwards(client, opened, answers)];
    result.resolve({ answers, faults, longestMs, grownMiB });
  });
  return await result.promise;
}

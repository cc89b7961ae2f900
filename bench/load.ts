import { Connection } from "./connection.ts";
import { quantile } from "./statistics.ts";
import type { WireRequest } from "./signing_key.ts";

/** What a run of requests came to. */
export interface Load {
  /** Answers per second. */
  readonly perSecond: number;
  /** Median time from the first byte sent to the last one received, milliseconds. */
  readonly p50: number;
  /** 99th percentile of the same. */
  readonly p99: number;
}

/**
 * Sends all requests over so many connections, each with one request under way.
 *
 * @param certificate that of a server that speaks TLS.
 * @throws {Error} when an answer has another status.
 */
export async function drive(
  port: number,
  requests: readonly WireRequest[],
  clients: number,
  status: number,
  certificate?: string,
): Promise<Load> {
  const connections = await Promise.all(
    Array.from({ length: clients }, () => Connection.open(port, certificate)),
  );
  const times: number[] = [];
  let next = 0;
  const start = performance.now();
  try {
    await Promise.all(connections.map(async (connection) => {
      for (;;) {
        const request = requests[next++];
        if (request === undefined) return;
        const sent = performance.now();
        const answer = await connection.send(request);
        times.push(performance.now() - sent);
        if (answer.status !== status) {
          throw new Error(`${answer.status}: ${new TextDecoder().decode(answer.body)}`);
        }
      }
    }));
  } finally {
    for (const connection of connections) connection[Symbol.dispose]();
  }
  const seconds = (performance.now() - start) / 1000;
  return {
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

/** Milliseconds each request takes, one at a time. */
export async function timeEach(
  connection: Connection,
  requests: readonly WireRequest[],
  status = 200,
): Promise<number[]> {
  const times: number[] = [];
  for (const request of requests) {
    const start = performance.now();
    const answer = await connection.send(request);
    times.push(performance.now() - start);
    if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}`);
  }
  return times;
}

/**
 * Milliseconds from the moment each request is due, one every `intervalMs`, until its answer. Those
 * that have to wait for the one before count their waiting: a server that stands still for a while
 * is seen by all who would have come meanwhile.
 */
export async function timePaced(
  connection: Connection,
  requests: Iterable<WireRequest>,
  intervalMs: number,
): Promise<number[]> {
  const times: number[] = [];
  const start = performance.now();
  for (const request of requests) {
    const due = start + times.length * intervalMs;
    const early = due - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    // The timer may be late by itself: that is not the server's time.
    const begin = early > 0 ? performance.now() : due;
    const { status } = await connection.send(request);
    times.push(performance.now() - begin);
    if (status !== 200) throw new Error(`${status} instead of 200`);
  }
  return times;
}

import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { firstRecalls } from "./first_recall.ts";
import { timeEach } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import { getRequest, type WireRequest } from "./signing_key.ts";
import { median, quantile } from "./statistics.ts";

const SCOPES = { n10: 10, n1000: 1000, n10000: 10_000 };
const ROUNDS = 5;
const CACHED = 200;
const UNCACHED = 40;
const QUERY = "What do I drink in the morning?";

/** Recalls of growing scopes next to the cheapest request of the same server. */
export const recallPart: Part = {
  name: "recall",
  title: "recall: POST /api/recall, limit 10, one client, next to GET /version",
  async run(note) {
    await using folder = await DataFolder.make();
    note("filling");
    await fill(folder, SCOPES);
    const recall = (namespace: string, query: string): WireRequest =>
      folder.key.request("POST", "/api/recall", { query, namespace });
    const first = await firstRecalls(folder, SCOPES, QUERY, note);
    await using server = await startRelayer(folder);
    using connection = await Connection.open(server.port);
    await connection.json(recall("empty", QUERY));
    const idle = await server.ownMiB();
    await timeEach(connection, Object.keys(SCOPES).map((namespace) => recall(namespace, QUERY)));
    const loaded = await server.ownMiB();
    await timeEach(connection, Array.from({ length: 1000 }, () => getRequest("/version")));
    for (const namespace of Object.keys(SCOPES)) {
      await timeEach(connection, Array.from({ length: 500 }, () => recall(namespace, QUERY)));
    }

    const rounds: Map<string, number[]>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS}`);
      rounds.push(await measureRound(connection, recall, round * 1_000_000));
    }
    return [
      ...first,
      ...figuresOf(rounds),
      { name: "resident memory, embedder loaded", value: idle, unit: "MiB" },
      { name: "resident memory, and 11,010 memories", value: loaded, unit: "MiB" },
    ];
  },
};

/** Requests one by one in turn, so that each finds the machine as the others leave it. */
async function measureRound(
  connection: Connection,
  recall: (namespace: string, query: string) => WireRequest,
  firstSentence: number,
): Promise<Map<string, number[]>> {
  let next = firstSentence;
  const turn = (query: () => string): [string, WireRequest][] =>
    Object.keys(SCOPES).map((namespace) => [namespace, recall(namespace, query())]);
  // Signed ahead: nothing of the client's work falls between two requests.
  const cached = Array.from({ length: CACHED }, () => turn(() => QUERY));
  const uncached = Array.from({ length: UNCACHED }, () => turn(() => sentence(next++)));
  const version = getRequest("/version");
  const times = new Map<string, number[]>();
  const take = async (kind: string, request: WireRequest) => {
    const [ms = NaN] = await timeEach(connection, [request]);
    times.getOrInsertComputed(kind, () => []).push(ms);
  };
  for (const requests of cached) {
    await take("version", version);
    for (const [namespace, request] of requests) await take(`${namespace} cached`, request);
  }
  for (const requests of uncached) {
    for (const [namespace, request] of requests) await take(`${namespace} new`, request);
  }
  return times;
}

function figuresOf(rounds: readonly Map<string, number[]>[]): Figure[] {
  const all = (kind: string) => rounds.flatMap((times) => times.get(kind)!);
  const figures: Figure[] = [
    { name: "GET /version, p50", value: median(all("version")), unit: "ms" },
  ];
  for (const [namespace, count] of Object.entries(SCOPES)) {
    for (const kind of ["cached", "new"] as const) {
      const key = `${namespace} ${kind}`;
      const name = `${count} memories, ${kind} query`;
      const goal = count === 10_000 && kind === "cached" ? { goal: { atMost: 6 } } : {};
      figures.push(
        { name: `${name}, p50`, value: median(all(key)), unit: "ms", ...goal },
        { name: `${name}, p95`, value: quantile(all(key), 0.95), unit: "ms" },
      );
    }
    const ratios = rounds.map((times) =>
      median(times.get(`${namespace} cached`)!) / median(times.get("version")!)
    );
    figures.push({
      name: `${count} memories, cached query, p50 / GET /version`,
      value: median(ratios),
      unit: "x",
      ...(count === 1000 ? { goal: { atMost: 8 } } : {}),
    });
  }
  return figures;
}

import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { timeEach } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import { getRequest, type WireRequest } from "./signing_key.ts";
import { median, quantile } from "./statistics.ts";

const SCOPES = { n10: 10, n1000: 1000, n10000: 10_000 };
const ROUNDS = 5;
const CACHED = 200;
const UNCACHED = 40;
const QUERY = "What do I drink in the morning?";

type Kind = "cached" | "new";

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
    await using server = await startRelayer(folder);
    using connection = await Connection.open(server.port);
    // Embeds the query, so that the first recall of a scope is the scope's own cost.
    await connection.json(recall("empty", QUERY));
    const idle = await server.ownMiB();
    const figures: Figure[] = [];
    for (const [namespace, count] of Object.entries(SCOPES)) {
      const [ms = NaN] = await timeEach(connection, [recall(namespace, QUERY)]);
      figures.push({
        name: `${count} memories, first recall after the start`,
        value: ms,
        unit: "ms",
      });
    }
    const loaded = await server.ownMiB();
    await timeEach(connection, Array.from({ length: 1000 }, () => getRequest("/version")));
    for (const namespace of Object.keys(SCOPES)) {
      await timeEach(connection, Array.from({ length: 500 }, () => recall(namespace, QUERY)));
    }

    let fresh = 0;
    const version: number[] = [];
    const times = new Map<string, number[]>();
    const ratios = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS}`);
      const round1 = Array.from({ length: CACHED }, () => getRequest("/version"));
      const versionTimes = await timeEach(connection, round1);
      version.push(...versionTimes);
      for (const namespace of Object.keys(SCOPES)) {
        const requests: Record<Kind, WireRequest[]> = {
          cached: Array.from({ length: CACHED }, () => recall(namespace, QUERY)),
          new: Array.from({ length: UNCACHED }, () => recall(namespace, sentence(fresh++))),
        };
        for (const kind of ["cached", "new"] as const) {
          const key = `${namespace} ${kind}`;
          const taken = await timeEach(connection, requests[kind]);
          times.set(key, [...times.get(key) ?? [], ...taken]);
          ratios.set(key, [...ratios.get(key) ?? [], median(taken) / median(versionTimes)]);
        }
      }
    }
    figures.push({ name: "GET /version, p50", value: median(version), unit: "ms" });
    for (const [namespace, count] of Object.entries(SCOPES)) {
      for (const kind of ["cached", "new"] as const) {
        const taken = times.get(`${namespace} ${kind}`)!;
        const name = `${count} memories, ${kind} query`;
        const large = count === 10_000 && kind === "cached";
        figures.push(
          {
            name: `${name}, p50`,
            value: median(taken),
            unit: "ms",
            ...(large ? { goal: { atMost: 6 } } : {}),
          },
          { name: `${name}, p95`, value: quantile(taken, 0.95), unit: "ms" },
        );
        if (kind === "new") continue;
        figures.push({
          name: `${name}, p50 / GET /version`,
          value: median(ratios.get(`${namespace} ${kind}`)!),
          unit: "x",
          ...(count === 1000 ? { goal: { atMost: 8 } } : {}),
        });
      }
    }
    figures.push(
      { name: "resident memory, embedder loaded", value: idle, unit: "MiB" },
      { name: "resident memory, and 11,010 memories", value: loaded, unit: "MiB" },
    );
    return figures;
  },
};

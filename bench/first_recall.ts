import { Connection } from "./connection.ts";
import type { DataFolder } from "./data_folder.ts";
import type { Figure } from "./figures.ts";
import { timeEach } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import { getRequest, type WireRequest } from "./signing_key.ts";
import { median } from "./statistics.ts";

const STARTS = 5;
const MODES = ["hybrid", "semantic"] as const;
/** Milliseconds between two requests of the other client. */
const INTERVAL = 2;
/**
 * The first recall of each namespace after a start, by meaning and words and by meaning alone, and
 * how long another client waits for GET /version meanwhile. The first start of all finds no file of
 * words and writes it.
 */
export async function firstRecalls(
  folder: DataFolder,
  scopes: Readonly<Record<string, number>>,
  query: string,
  note: (text: string) => void,
): Promise<Figure[]> {
  const times = new Map<string, number[]>();
  const add = (name: string, ms: number) => times.getOrInsertComputed(name, () => []).push(ms);
  for (let start = 0; start <= STARTS; start++) {
    note(start === 0 ? "the first start of all" : `start ${start} of ${STARTS}`);
    for (const mode of MODES.slice(0, start === 0 ? 1 : undefined)) {
      await using server = await startRelayer(folder);
      const recall = (namespace: string) =>
        folder.key.request("POST", "/api/recall", { query, namespace, mode });
      for (const [namespace, { ms, longest }] of await measure(server.port, scopes, recall)) {
        const kind = start === 0 ? "hybrid recall ever" : `${mode} recall`;
        const name = `${scopes[namespace]} memories, first ${kind}`;
        add(name, ms);
        add(`${name}, GET /version at most`, longest);
      }
      // After an unclean end the next start would refuse what is signed right away.
      await server.stop();
    }
  }
  return [...times].map(([name, all]) => ({
    name,
    value: median(all),
    unit: "ms",
    ...(/^10000 \S+ first \w+ recall$/.test(name) ? { goal: { atMost: 150 } } : {}),
  }));
}

/** The first recall of each namespace by a relayer that has just started, and the other client's wait. */
export async function measure(
  port: number,
  scopes: Readonly<Record<string, number>>,
  recall: (namespace: string) => WireRequest,
): Promise<Map<string, { readonly ms: number; readonly longest: number }>> {
  using connection = await Connection.open(port);
  using other = await Connection.open(port);
  // Embeds the query, so that the first recall of a scope is the scope's own cost.
  await connection.json(recall("empty"));
  await timeEach(other, Array.from({ length: 50 }, () => getRequest("/version")));
  const found = new Map<string, { ms: number; longest: number }>();
  for (const namespace of Object.keys(scopes)) {
    let recalled = false;
    const waits = waiting(other, () => recalled);
    const [ms = NaN] = await timeEach(connection, [recall(namespace)]);
    recalled = true;
    found.set(namespace, { ms, longest: await waits });
  }
  return found;
}

/** The longest time that GET /version takes until `done`, milliseconds. */
async function waiting(connection: Connection, done: () => boolean): Promise<number> {
  let longest = 0;
  while (!done()) {
    const [ms = NaN] = await timeEach(connection, [getRequest("/version")]);
    longest = Math.max(longest, ms);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
  return longest;
}

import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { timeEach, timePaced } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import type { WireRequest } from "./signing_key.ts";
import { median, quantile } from "./statistics.ts";

const ROUNDS = 5;
const RECALLS = 300;
/** Milliseconds between two recalls: embedding a new query takes most of 5 ms. */
const INTERVAL = { cached: 5, new: 20 };
/** Milliseconds between two looks at the job. */
const POLL = 25;
const LARGE_TEXTS = 4;
const QUERY = "What do I drink in the morning?";
const TEXT_BYTES = 1024 * 1024;

function largeText(seed: number): string {
  let text = "";
  for (let i = 0; text.length < TEXT_BYTES; i++) text += `${sentence(seed * 100_000 + i)}. `;
  return text.slice(0, TEXT_BYTES);
}

/** One kind of recall, by itself and while texts are stored. */
async function measure(kind: "cached" | "new", note: (text: string) => void): Promise<Figure[]> {
  await using folder = await DataFolder.make();
  const { key } = folder;
  await fill(folder, { facts: 1000 });
  await using server = await startRelayer(folder);
  using connection = await Connection.open(server.port);
  using writer = await Connection.open(server.port);
  let count = 0;
  const recall = () => {
    const query = kind === "cached" ? QUERY : `${QUERY} ${count++}`;
    return key.request("POST", "/api/recall", { query, namespace: "facts" });
  };
  await timeEach(connection, Array.from({ length: RECALLS }, recall));

  const idle: number[] = [];
  const busy: number[] = [];
  const ratios: number[] = [];
  const stored: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    note(`${kind} query, round ${round + 1} of ${ROUNDS}`);
    const calm = await timePaced(
      connection,
      Array.from({ length: RECALLS }, recall),
      INTERVAL[kind],
    );
    const writes = Array.from({ length: LARGE_TEXTS }, (_, i) => {
      const text = largeText(round * LARGE_TEXTS + i);
      return key.request("POST", "/api/remember", { text, namespace: "books" });
    });
    let working = true;
    const whileWorking = function* (): Generator<WireRequest> {
      while (working) yield recall();
    };
    const start = performance.now();
    const [during] = await Promise.all([
      timePaced(connection, whileWorking(), INTERVAL[kind]),
      storeAll(writer, folder, writes).finally(() => working = false),
    ]);
    stored.push((performance.now() - start) / LARGE_TEXTS);
    idle.push(...calm);
    busy.push(...during);
    ratios.push(quantile(during, 0.95) / quantile(calm, 0.95));
  }
  const name = (what: string) => `${kind} query, ${what}`;
  return [
    { name: name("idle, p50"), value: median(idle), unit: "ms" },
    { name: name("idle, p95"), value: quantile(idle, 0.95), unit: "ms" },
    { name: name("meanwhile, p50"), value: median(busy), unit: "ms" },
    { name: name("meanwhile, p95"), value: quantile(busy, 0.95), unit: "ms" },
    { name: name("meanwhile, slowest"), value: Math.max(...busy), unit: "ms" },
    { name: name("p95 meanwhile / idle"), value: median(ratios), unit: "x", goal: { atMost: 3 } },
    { name: name("1 MiB text to recallable"), value: median(stored), unit: "ms" },
  ];
}

/** Recalls of one namespace while texts of 1 MiB are stored in another. */
export const largePart: Part = {
  name: "large",
  title: "large: recall of 1,000 memories, every 5 or 20 ms, while texts of 1 MiB are stored",
  run: async (note) => [...await measure("cached", note), ...await measure("new", note)],
};

/** Sends the writes, each once the memory before is recallable. */
async function storeAll(
  connection: Connection,
  { key }: DataFolder,
  writes: readonly WireRequest[],
): Promise<void> {
  for (const write of writes) {
    const { job_id: id } = await connection.json(write, 202);
    for (;;) {
      const job = await connection.json(key.request("GET", `/api/remember/${id}`));
      if (job.recallable === true) break;
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }
}

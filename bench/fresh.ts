import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Part } from "./figures.ts";
import { sentence } from "./fill.ts";
import { startRelayer } from "./relayer_process.ts";
import { median, quantile } from "./statistics.ts";

const COUNT = 100;
const WARM_UP = 30;

interface Hit {
  readonly text: string;
}

/** How soon an accepted memory is found, and by whom. */
export const freshPart: Part = {
  name: "fresh",
  title: "fresh: from the 202 of a remember until the memory is found, one client",
  async run(note) {
    await using folder = await DataFolder.make();
    await using server = await startRelayer(folder);
    await using embedder = useLiteEmbedder();
    using connection = await Connection.open(server.port);
    const { key } = folder;
    const remember = (text: string) => key.request("POST", "/api/remember", { text });
    const recall = (query: string) => key.request("POST", "/api/recall", { query, limit: 1 });
    const embed = async (text: string) => {
      const start = performance.now();
      await embedder.embed([text], { purpose: "document" });
      return performance.now() - start;
    };
    note("warming up");
    for (let i = 0; i < WARM_UP; i++) {
      await connection.json(remember(sentence(1_000_000 + i)), 202);
      await connection.json(recall(sentence(1_000_000 + i)));
      await embed(sentence(i));
    }

    const accepted: number[] = [];
    const answered: number[] = [];
    const recallable: number[] = [];
    const embedded: number[] = [];
    let found = 0;
    note("measuring");
    for (let i = 0; i < COUNT; i++) {
      const text = sentence(i);
      const [write, read] = [remember(text), recall(text)];
      const sent = performance.now();
      await connection.json(write, 202);
      const start = performance.now();
      const { results } = await connection.json(read) as { results: readonly Hit[] };
      answered.push(performance.now() - start);
      accepted.push(start - sent);
      if (results[0]?.text === text) found++;

      recallable.push(await untilRecallable(connection, folder, remember(sentence(COUNT + i))));
      embedded.push(await embed(text));
    }
    const embedderP50 = median(embedded);
    const goal = { atMost: embedderP50 + 10 };
    return [
      { name: "found by the first recall, of 100", value: found, unit: "", goal: { atLeast: 100 } },
      { name: "embedder, one document, p50", value: embedderP50, unit: "ms" },
      { name: "remember to 202, p50", value: median(accepted), unit: "ms" },
      { name: "202 to recallable, p50", value: median(recallable), unit: "ms", goal },
      { name: "202 to recallable, p95", value: quantile(recallable, 0.95), unit: "ms" },
      { name: "202 to a recall's answer, p50", value: median(answered), unit: "ms" },
      { name: "202 to a recall's answer, p95", value: quantile(answered, 0.95), unit: "ms" },
    ];
  },
};

/** Milliseconds from the 202 until a status poll calls the job recallable; polls without a pause. */
async function untilRecallable(
  connection: Connection,
  { key }: DataFolder,
  request: Uint8Array,
): Promise<number> {
  const { job_id: id } = await connection.json(request, 202);
  const start = performance.now();
  for (;;) {
    const job = await connection.json(key.request("GET", `/api/remember/${id}`));
    if (job.recallable === true) return performance.now() - start;
  }
}

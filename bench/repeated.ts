import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { timeEach } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import { median, quantile } from "./statistics.ts";

const COUNT = 10_000;
const NAMESPACE = "n10000";
const WARM_UP = 40;
const PAIRS = 300;
const QUERY = "What do I drink in the morning?";

/** Milliseconds of writes, until the answer and until the memory is recalled. */
interface Times {
  readonly accept: number[];
  readonly recallable: number[];
}

/**
 * What it costs to look whether a new memory says what one of ten thousand says: the same writes with
 * and without, in turn. The recall behind each waits for it, and takes as long for both.
 */
export const repeatedPart: Part = {
  name: "repeated",
  title: `repeated: one remember at a time among ${COUNT} memories, with deduplicate and without`,
  async run(note) {
    await using folder = await DataFolder.make();
    note("filling");
    await fill(folder, { [NAMESPACE]: COUNT });
    await using server = await startRelayer(folder, { SVC_CONFLICTS: "off" });
    using connection = await Connection.open(server.port);
    const recall = folder.key.request("POST", "/api/recall", {
      query: QUERY,
      namespace: NAMESPACE,
    });
    await timeEach(connection, [recall]);
    const times = { on: timesOf(), off: timesOf() };
    for (let i = 0; i < WARM_UP + PAIRS; i++) {
      if (i % 50 === 0) note(`write ${i} of ${WARM_UP + PAIRS}`);
      // Whoever comes first finds the machine as the recall before leaves it: they take turns.
      const order = i % 2 === 0 ? ["on", "off"] as const : ["off", "on"] as const;
      for (const how of order) {
        const text = sentence(10 * COUNT + 2 * i + (how === "on" ? 0 : 1));
        const body = { text, namespace: NAMESPACE, deduplicate: how === "on" };
        const again = folder.key.request("POST", "/api/recall", {
          query: QUERY,
          namespace: NAMESPACE,
        });
        const begin = performance.now();
        const write = folder.key.request("POST", "/api/remember", body);
        const [accept = NaN] = await timeEach(connection, [write], 202);
        await timeEach(connection, [again]);
        if (i < WARM_UP) continue;
        times[how].accept.push(accept);
        times[how].recallable.push(performance.now() - begin);
      }
    }
    return [
      ...figuresOf("accepted", "accept", times),
      ...figuresOf("recalled", "recallable", times),
    ];
  },
};

function timesOf(): Times {
  return { accept: [], recallable: [] };
}

function figuresOf(
  name: string,
  member: keyof Times,
  { on, off }: { readonly on: Times; readonly off: Times },
): Figure[] {
  const [more, less] = [on[member], off[member]];
  return [
    { name: `${name}, without, p50`, value: median(less), unit: "ms" },
    { name: `${name}, with, p50`, value: median(more), unit: "ms" },
    { name: `${name}, without, p95`, value: quantile(less, 0.95), unit: "ms" },
    { name: `${name}, with, p95`, value: quantile(more, 0.95), unit: "ms" },
    {
      name: `${name}, with - without, p50`,
      value: median(more) - median(less),
      unit: "ms",
      goal: { atMost: 2 },
    },
  ];
}

import { SvcClient } from "../src/client/client.ts";
import { DataFolder } from "./data_folder.ts";
import type { Part } from "./figures.ts";
import { startNetwork } from "./network_process.ts";
import { startRelayer } from "./relayer_process.ts";
import { median, quantile } from "./statistics.ts";

const ROUNDS = 6;
const WRITES = 25;

interface Told {
  readonly settings: Readonly<Record<string, string>>;
  readonly accountId: string;
  readonly seed: string;
}

/** From the 202 to the answer that the memory can be recalled, for each write, milliseconds. */
async function untilRecallable(client: SvcClient, round: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const text = `In round ${round} fact ${i} says that the garden gate number ${i} is green`;
    const { job_id } = await client.remember(text);
    const began = performance.now();
    while (!(await client.job(job_id)).recallable);
    times.push(performance.now() - began);
  }
  return times;
}

/** Whether the networks are felt between the answer to a write and its recall. */
export const networkedPart: Part = {
  name: "networked",
  title: "networked: from 202 to recallable, on a local Sui, Seal and Walrus and embedded",
  async run(note) {
    await using folder = await DataFolder.make();
    await using other = await DataFolder.make();
    await using network = await startNetwork<Told>("bench/servers/network.ts");
    await using embedded = await startRelayer(folder);
    await using networked = await startRelayer(other, network.settings);
    const clientOf = (port: number, privateKey: string, accountId: string) =>
      new SvcClient({ baseUrl: `http://127.0.0.1:${port}`, privateKey, accountId });
    const { seed } = folder.key;
    const clients = {
      embedded: clientOf(embedded.port, seed, folder.account.accountId),
      networked: clientOf(networked.port, network.seed, network.accountId),
    };
    const times = { embedded: [] as number[], networked: [] as number[] };
    // The first of each loads weights, keys and code.
    for (const client of Object.values(clients)) await untilRecallable(client, -1);
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS}`);
      times.embedded.push(...await untilRecallable(clients.embedded, round));
      times.networked.push(...await untilRecallable(clients.networked, round));
    }
    const ratio = median(times.networked) / median(times.embedded);
    return [
      { name: "embedded, p50", value: median(times.embedded), unit: "ms" },
      { name: "embedded, p95", value: quantile(times.embedded, 0.95), unit: "ms" },
      { name: "networked, p50", value: median(times.networked), unit: "ms" },
      { name: "networked, p95", value: quantile(times.networked, 0.95), unit: "ms" },
      { name: "networked / embedded, p50", value: ratio, unit: "x", goal: { atMost: 1.2 } },
    ];
  },
};

import { parseArgs } from "node:util";
import { runFuzz } from "./run.ts";

const MOST_MS = 250;
const MOST_MIB = 256;

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    clients: { type: "string", default: "8" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

const [requests, clients, seed] = [values.requests, values.clients, values.seed].map(Number);
if (!(requests! > 0 && clients! > 0 && seed! >= 0)) throw new Error("Numbers above 0 are needed");
say(`seed ${seed}`);
const { answers, faults, longestMs, grownMiB } = await runFuzz({
  requests: requests!,
  clients: clients!,
  seed: seed!,
  onProgress: (sent, resident) => say(`${sent} requests, ${resident.toFixed(0)} MiB`),
});
for (const [name, count] of [...answers].sort()) say(`${String(count).padStart(7)} ${name}`);
for (const fault of faults) say(`FAULT ${fault}`);
const isQuick = longestMs <= MOST_MS;
const isSmall = grownMiB <= MOST_MIB;
say(`${isQuick ? "met   " : "MISSED"} longest GET /version: ${longestMs.toFixed(0)} ms`);
say(`${isSmall ? "met   " : "MISSED"} memory grown: ${grownMiB.toFixed(0)} MiB`);
Deno.exit(faults.length === 0 && isQuick && isSmall ? 0 : 1);

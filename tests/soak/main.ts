import { parseArgs } from "node:util";
import { runSoak } from "./run.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    memories: { type: "string", default: "2000" },
    rate: { type: "string", default: "20" },
    out: { type: "string" },
  },
});

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

const ending = new AbortController();
Deno.addSignalListener("SIGINT", () => ending.abort());
const seconds = 60 * Number(values.minutes);
const memories = Number(values.memories);
const rate = Number(values.rate);
if (!(seconds > 0 && memories > 0 && rate > 0)) throw new Error("Numbers above 0 are needed");

const result = await runSoak({
  seconds,
  memories,
  rate,
  every: 10,
  signal: ending.signal,
  onSample({ at, relayerMiB, sidecarMiB, descriptors }, requests) {
    const memory = `${relayerMiB.toFixed(1)} + ${sidecarMiB.toFixed(1)} MiB`;
    say(
      `${at.toFixed(0).padStart(6)} s ${memory}, ${descriptors} descriptors, ${requests} requests`,
    );
  },
});
if (values.out !== undefined) {
  const lines = result.samples.map((sample) => JSON.stringify(sample));
  await Deno.writeTextFile(values.out, `${lines.join("\n")}\n`);
}
say(`\n${result.requests} requests in ${(result.seconds / 60).toFixed(1)} minutes`);
for (const { name, value, isMet } of result.verdicts) {
  say(`${isMet ? "met   " : "MISSED"} ${name}: ${value}`);
}
for (const [failure, count] of result.failures) say(`failed ${count} times: ${failure}`);
const isGood = result.failures.size === 0 && result.verdicts.every(({ isMet }) => isMet);
Deno.exit(isGood ? 0 : 1);

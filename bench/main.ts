/**
 * Measures the relayer: `deno task bench [part …]`, all parts by default. Prints a table a part and
 * writes one JSON file into bench/results/. See docs/measurements for what the numbers mean.
 */
import { acceptPart } from "./accept.ts";
import { embedderPart } from "./embedder.ts";
import { type Figure, isMet, numberText, type Part, tableText } from "./figures.ts";
import { freshPart } from "./fresh.ts";
import { indexPart } from "./index.ts";
import { largePart } from "./large.ts";
import { lancedbPart } from "./lancedb.ts";
import { listenerPart } from "./listener.ts";
import { mcpPart } from "./mcp.ts";
import { mem0Part } from "./mem0.ts";
import { movePart } from "./move.ts";
import { postgresPart } from "./postgres.ts";
import { portablePart } from "./portable.ts";
import { recallPart } from "./recall.ts";
import { repeatedPart } from "./repeated.ts";
import { sharedPart } from "./shared.ts";
import { scanPart } from "./scan.ts";
import { sealPart } from "./seal.ts";
import { startPart } from "./start.ts";
import { storePart } from "./store.ts";
import { stdioPart } from "./stdio.ts";
import { networkedPart } from "./networked.ts";
import { walrusPart } from "./walrus.ts";
import { writesPart } from "./writes.ts";

const PARTS: readonly Part[] = [
  acceptPart,
  recallPart,
  listenerPart,
  freshPart,
  embedderPart,
  startPart,
  largePart,
  mcpPart,
  scanPart,
  lancedbPart,
  mem0Part,
  stdioPart,
  indexPart,
  storePart,
  sealPart,
  walrusPart,
  networkedPart,
  writesPart,
  portablePart,
  postgresPart,
  sharedPart,
  movePart,
  repeatedPart,
];

const encoder = new TextEncoder();

function print(text: string): void {
  Deno.stdout.writeSync(encoder.encode(`${text}\n`));
}

/** Progress goes to standard error, so that the tables can be kept. */
function note(text: string): void {
  Deno.stderr.writeSync(encoder.encode(`${text}\n`));
}

function chosenParts(names: readonly string[]): readonly Part[] {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    note(
      `Unknown part ${unknown.join(", ")}; there are ${PARTS.map(({ name }) => name).join(" ")}`,
    );
    Deno.exit(2);
  }
  return names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
}

const machine = {
  cores: navigator.hardwareConcurrency,
  system: `${Deno.build.os} ${Deno.build.arch}`,
  deno: Deno.version.deno,
  v8: Deno.version.v8,
  /** What else ran before: a machine with other work to do gives worse numbers, ratios included. */
  load: Deno.loadavg()[0] ?? 0,
};
print(
  `${machine.cores} cores, ${machine.system}, Deno ${machine.deno}, ` +
    `load average before ${numberText(machine.load)}\n`,
);

const results: Record<string, { seconds: number; figures: readonly Figure[] }> = {};
for (const part of chosenParts(Deno.args)) {
  const start = performance.now();
  const figures = await part.run((text) => note(`${part.name}: ${text}`));
  const seconds = Math.round((performance.now() - start) / 1000);
  results[part.name] = { seconds, figures };
  print(tableText(`${part.title} (${seconds} s)`, figures));
}

const all = Object.values(results).flatMap(({ figures }) => figures);
const missed = all.filter((figure) => isMet(figure) === false);
print(`goals met: ${all.filter(isMet).length}, missed: ${missed.length}`);

const folder = new URL("results/", import.meta.url);
await Deno.mkdir(folder, { recursive: true });
const at = new Date().toISOString();
const file = new URL(`${at.replaceAll(/[:.]/g, "-")}.json`, folder);
await Deno.writeTextFile(
  file,
  JSON.stringify({ at, machine, parts: results }, undefined, 2) + "\n",
);
print(`written to bench/results/${file.pathname.split("/").at(-1)}`);

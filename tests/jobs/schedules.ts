/**
 * Plays seeded histories of accepting, correcting, deleting, forgetting, reading, restoring,
 * embedding anew, exporting, importing, working, retrying and crashing: `deno task schedules
 * [--seeds n]`, that many of each kind; 2,500 when absent.
 */
import { KINDS, play } from "./simulation.ts";

/** Seeds of the short form among the tests come before these. */
const FIRST = 1_000;

const encode = (line: string) => new TextEncoder().encode(line);

const [flag, value = "2500"] = Deno.args;
const seeds = Number(value);
if ((flag !== undefined && flag !== "--seeds") || !(Number.isInteger(seeds) && seeds > 0)) {
  Deno.stderr.writeSync(encode("Usage: deno task schedules [--seeds n]\n"));
  Deno.exit(2);
}
for (const kind of KINDS) {
  await play(kind, FIRST, seeds);
  Deno.stdout.writeSync(encode(`${kind}: ${seeds} histories without a fault\n`));
}

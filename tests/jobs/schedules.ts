/**
 * Plays seeded histories of accepting, correcting, deleting, forgetting, working, retrying and
 * crashing: `deno task schedules [--seeds n]`, that many of each kind; 2,500 when absent.
 */
import { withTimers } from "./manual_work.ts";
import { type Chaos, Simulation } from "./simulation.ts";

const KINDS: Readonly<Record<string, Chaos>> = {
  crashes: { crash: 0.04, temporary: 0, permanent: 0, lostAnswer: 0 },
  faults: { crash: 0, temporary: 0.1, permanent: 0.01, lostAnswer: 0 },
  "lost answers": { crash: 0, temporary: 0.02, permanent: 0, lostAnswer: 0.05 },
  both: { crash: 0.02, temporary: 0.05, permanent: 0.01, lostAnswer: 0.02 },
};
/** Seeds of the short form among the tests come before these. */
const FIRST = 1_000;

const encode = (line: string) => new TextEncoder().encode(line);

const [flag, value = "2500"] = Deno.args;
const seeds = Number(value);
if ((flag !== undefined && flag !== "--seeds") || !(Number.isInteger(seeds) && seeds > 0)) {
  Deno.stderr.writeSync(encode("Usage: deno task schedules [--seeds n]\n"));
  Deno.exit(2);
}
for (const [name, chaos] of Object.entries(KINDS)) {
  await withTimers(async () => {
    for (let seed = FIRST; seed < FIRST + seeds; seed++) {
      const simulation = new Simulation(seed, chaos);
      try {
        await simulation.run();
      } catch (cause) {
        const trace = simulation.trace.join(" · ");
        throw new Error(`${name}, seed ${seed}: ${trace}`, { cause });
      }
    }
  });
  Deno.stdout.writeSync(encode(`${name}: ${seeds} histories without a fault\n`));
}

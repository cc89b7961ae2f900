import { verifies } from "../requirements.ts";
import { withTimers } from "./manual_work.ts";
import { type Chaos, Simulation } from "./simulation.ts";

const CRASHES: Chaos = { crash: 0.04, temporary: 0, permanent: 0, lostAnswer: 0 };
const FAULTS: Chaos = { crash: 0, temporary: 0.1, permanent: 0.01, lostAnswer: 0 };
const LOST: Chaos = { crash: 0, temporary: 0.02, permanent: 0, lostAnswer: 0.05 };
const BOTH: Chaos = { crash: 0.02, temporary: 0.05, permanent: 0.01, lostAnswer: 0.02 };

function play(name: string, chaos: Chaos, seeds: number): Promise<void> {
  // A history has a time of its own, and what crashed has no timers left.
  return withTimers(() => playAll(name, chaos, seeds));
}

async function playAll(name: string, chaos: Chaos, seeds: number): Promise<void> {
  for (let seed = 0; seed < seeds; seed++) {
    const simulation = new Simulation(seed, chaos);
    try {
      await simulation.run();
    } catch (cause) {
      const trace = simulation.trace.join(" · ");
      throw new Error(`simulation ${name}, seed ${seed}: ${trace}`, { cause });
    }
  }
}

Deno.test("crashes between any two effects lose, double and strand nothing", async () => {
  verifies("6-2", "8-15", "8-16", "8-23");
  await play("crashes", CRASHES, 500);
});

Deno.test("backends that fail lose, double and strand nothing", async () => {
  verifies("8-3", "8-5", "8-16");
  await play("faults", FAULTS, 500);
});

Deno.test("answers that get lost lose, double and strand nothing", async () => {
  verifies("8-16");
  await play("lost answers", LOST, 500);
});

Deno.test("crashes and failing backends together lose, double and strand nothing", async () => {
  verifies("6-2", "8-19");
  await play("both", BOTH, 500);
});

import { verifies } from "../requirements.ts";
import { play } from "./simulation.ts";

const SEEDS = 150;

Deno.test("crashes between any two effects lose, double and strand nothing", async () => {
  verifies("6-2", "8-15", "8-16", "8-23", "10.6-22", "10.6-26", "10.8-9", "10.8-10", "10.11-5");
  await play("crashes", 0, SEEDS);
});

Deno.test("backends that fail lose, double and strand nothing", async () => {
  verifies("8-3", "8-5", "8-16");
  await play("faults", 0, SEEDS);
});

Deno.test("answers that get lost lose, double and strand nothing", async () => {
  verifies("8-16");
  await play("lost answers", 0, SEEDS);
});

Deno.test("crashes and failing backends together lose, double and strand nothing", async () => {
  verifies("6-2", "8-19", "10.9-21");
  await play("both", 0, SEEDS);
});

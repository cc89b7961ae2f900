import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ZEROS } from "../../src/index/vectors/growing_memory.ts";
import { V8_FLAGS } from "../../src/program/launcher/child_spec.ts";
import { LOCKED } from "../locked.ts";

const CHILD = fileURLToPath(new URL("budget_child.ts", import.meta.url));

/** As the relayer is started. */
const FLAGS = [V8_FLAGS.serve, `--allow-read=${ZEROS}`];

interface Sizes {
  readonly budget: number;
  readonly before: number;
  readonly most: number;
  readonly scopes: number;
}

async function measure(...args: string[]): Promise<Sizes> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", ...LOCKED, ...FLAGS, CHILD, ...args],
    stderr: "inherit",
  }).output();
  assert.ok(success);
  return JSON.parse(new TextDecoder().decode(stdout)) as Sizes;
}

Deno.test("the process stays within the budget with ten times more scopes than fit", async () => {
  const sizes = await measure();
  const { budget, before, most } = sizes;
  assert.ok(sizes.scopes >= 10 && sizes.scopes * 10 <= 180, JSON.stringify(sizes));
  assert.ok(most - before < budget, JSON.stringify(sizes));
});

Deno.test("scopes that are loaded at once wait for each other where there is no room", async () => {
  const sizes = await measure("at-once");
  const { budget, before, most } = sizes;
  assert.equal(sizes.scopes, 8);
  assert.ok(most - before < budget, JSON.stringify(sizes));
});

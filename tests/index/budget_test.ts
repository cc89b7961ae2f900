import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ZEROS } from "../../src/index/prefault.ts";
import { V8_FLAGS } from "../../src/launcher/child_spec.ts";
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

Deno.test("the process stays within the budget with ten times more scopes than fit", async () => {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", ...LOCKED, ...FLAGS, CHILD],
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const sizes = JSON.parse(new TextDecoder().decode(stdout)) as Sizes;
  const { budget, before, most } = sizes;
  assert.ok(sizes.scopes >= 10 && sizes.scopes * 10 <= 180, JSON.stringify(sizes));
  assert.ok(most - before < budget, JSON.stringify(sizes));
});

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("budget_child.ts", import.meta.url));

/** As the relayer is started. */
const V8_FLAGS =
  "--v8-flags=--min-semi-space-size=1,--max-semi-space-size=4,--heap-growing-percent=50";

interface Sizes {
  readonly budget: number;
  readonly before: number;
  readonly most: number;
  readonly scopes: number;
}

Deno.test("the process stays within the budget with ten times more scopes than fit", async () => {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", V8_FLAGS, CHILD],
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const sizes = JSON.parse(new TextDecoder().decode(stdout)) as Sizes;
  const { budget, before, most } = sizes;
  assert.ok(sizes.scopes >= 10 && sizes.scopes * 10 <= 180, JSON.stringify(sizes));
  assert.ok(most - before < budget, JSON.stringify(sizes));
});

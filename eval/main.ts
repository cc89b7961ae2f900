/** Measures quality: `deno task eval <name> [option …]`. See docs/recall.md. */
import { run as recall } from "./recall.ts";
import { run as train } from "./training/train.ts";

/** Evaluations by name; each prints what it found and answers the exit code. */
const EVALUATIONS: ReadonlyMap<string, (args: readonly string[]) => Promise<number>> = new Map([
  ["recall", recall],
  ["train", train],
]);

const [name = "recall", ...args] = Deno.args;
const run = EVALUATIONS.get(name);
if (run === undefined) {
  const names = [...EVALUATIONS.keys()].join(", ");
  Deno.stderr.writeSync(
    new TextEncoder().encode(`Unknown evaluation ${name}; there is ${names}\n`),
  );
  Deno.exit(2);
}
Deno.exit(await run(args));

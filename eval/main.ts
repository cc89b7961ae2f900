/** Measures quality: `deno task eval [name [option …]]`, everything by default. */
import { run as ask } from "./ask.ts";
import { run as duplicates } from "./duplicates.ts";
import { run as extract } from "./extract.ts";

/** Evaluations by name; each prints what it found and answers the exit code. */
const EVALUATIONS: ReadonlyMap<string, (args: readonly string[]) => Promise<number>> = new Map([
  ["ask", ask],
  ["duplicates", duplicates],
  ["extract", extract],
]);

const [name, ...args] = Deno.args;
const chosen = name === undefined ? [...EVALUATIONS.values()] : [EVALUATIONS.get(name)];
for (const run of chosen) {
  if (run === undefined) {
    const names = [...EVALUATIONS.keys()].join(", ");
    Deno.stderr.writeSync(
      new TextEncoder().encode(`Unknown evaluation ${name}; there are ${names}\n`),
    );
    Deno.exit(2);
  }
  const code = await run(args);
  if (code !== 0) Deno.exit(code);
}

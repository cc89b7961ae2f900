/** Measures quality: `deno task eval [name [option …]]`; without a name one table of recall. */
import { run as ask } from "./ask.ts";
import { run as conflicts } from "./conflicts.ts";
import { run as conversations } from "./conversations.ts";
import { run as duplicates } from "./duplicates.ts";
import { run as extract } from "./extract.ts";
import { run as languages } from "./languages.ts";
import { run as recall } from "./recall.ts";
import { run as secrets } from "./secrets.ts";
import { run as silence } from "./silence.ts";
import { run as table } from "./table.ts";
import { run as updates } from "./updates.ts";
import { run as writes } from "./writes.ts";
import { run as replacements } from "./training/replacements.ts";
import { run as tokens } from "./training/tokens.ts";

type Evaluation = (args: readonly string[]) => Promise<number>;

/** Evaluations by name; each prints what it found and answers the exit code. */
const EVALUATIONS: ReadonlyMap<string, Evaluation> = new Map([
  ["ask", ask],
  ["conflicts", conflicts],
  ["conversations", conversations],
  ["duplicates", duplicates],
  ["extract", extract],
  ["languages", languages],
  ["recall", recall],
  ["secrets", secrets],
  ["silence", silence],
  ["table", table],
  ["updates", updates],
  ["writes", writes],
]);

const isNamed = Deno.args[0]?.startsWith("-") === false;
const [name = "table", ...args] = isNamed ? Deno.args : ["table", ...Deno.args];
/** What the scripts in eval/training read. */
const TRAINING: ReadonlyMap<string, Evaluation> = new Map([
  ["replacements", replacements],
  ["tokens", tokens],
]);
const run = EVALUATIONS.get(name) ?? TRAINING.get(name);
if (run === undefined) {
  const names = [...EVALUATIONS.keys(), ...TRAINING.keys()].join(", ");
  const text = `Unknown evaluation ${name}; there are ${names}\n`;
  Deno.stderr.writeSync(new TextEncoder().encode(text));
  Deno.exit(2);
}
Deno.exit(await run(args));

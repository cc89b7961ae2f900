/**
 * Crashes a relayer under load and looks at what it has then; ends with 1 when anything is wrong.
 *
 * `deno run -A tests/crash/loop.ts --kills 50 --accepts 5000`
 *
 * @module
 */
import { parseArgs } from "node:util";
import { runLoop } from "./run.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    kills: { type: "string", default: "50" },
    accepts: { type: "string", default: "5000" },
    clients: { type: "string", default: "8" },
    embedder: { type: "string", default: "use-lite" },
  },
});

const { findings, problems, summary } = await runLoop({
  kills: Number(values.kills),
  accepts: Number(values.accepts),
  clients: Number(values.clients),
  pause: [300, 2500],
  env: { SVC_EMBEDDER: values.embedder },
});
const lines = [...new Set(problems), summary];
await Deno.stdout.write(new TextEncoder().encode(lines.join("\n") + "\n"));
const isWell = problems.length === 0 && Object.values(findings).every((count) => count === 0);
Deno.exit(isWell ? 0 : 1);

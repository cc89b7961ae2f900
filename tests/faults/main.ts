import { parseArgs } from "node:util";
import { FAULTS } from "./fault_proxy.ts";
import { tryFault } from "./run.ts";
import { SUBJECTS } from "./subjects.ts";

const { values } = parseArgs({
  options: {
    /** Part of the name of a dependency, or of a fault, to try no others. */
    only: { type: "string", default: "" },
    subject: { type: "string", multiple: true, default: Object.keys(SUBJECTS) },
  },
});

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

let bad = 0;
for (const name of values.subject) {
  await SUBJECTS[name]!(async ({ client, proxies }) => {
    for (const dependency of Object.entries(proxies)) {
      for (const fault of FAULTS) {
        if (!`${dependency[0]} ${fault}`.includes(values.only)) continue;
        const outcome = await tryFault(client, dependency, fault);
        const { asked, accepted, longestMs, healedMs, problems } = outcome;
        const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
        say(
          `${problems.length === 0 ? "well " : "WRONG"} ${dependency[0].padEnd(14)} ${
            fault.padEnd(28)
          } asked ${String(asked).padStart(3)}, accepted ${accepted}, longest answer ${
            seconds(longestMs)
          }, healed in ${seconds(healedMs)}`,
        );
        for (const problem of problems) say(`      ${problem}`);
        bad += problems.length;
      }
    }
  });
}
say(bad === 0 ? "Everything healed" : `${bad} problems`);
Deno.exit(bad === 0 ? 0 : 1);

import { type Check, ok, problem, warning } from "./finding.ts";

const ADVICE = "`--print-config` shows what is in force, docs/configuration.md what each may be";

/** Whether a start would take the settings: each alone, and what they mean together. */
export const settings: Check = {
  name: "settings",
  look({ prepared: { problems, warnings } }) {
    const found = [
      ...problems.map((line) => problem(line, ADVICE)),
      ...warnings.map((line) => warning(line, ADVICE)),
    ];
    return found.length > 0 ? found : [ok("all are valid")];
  },
};

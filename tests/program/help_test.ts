import assert from "node:assert/strict";
import { ACCOUNT_USAGE } from "../../src/program/commands/account_options.ts";
import { CONTRACT_USAGE } from "../../src/program/commands/contract_options.ts";
import { DOCTOR_USAGE } from "../../src/program/commands/doctor.ts";
import { HELP } from "../../src/program/commands/help.ts";

Deno.test("help fits a terminal of 80 columns", () => {
  for (const text of [HELP, ACCOUNT_USAGE, CONTRACT_USAGE, DOCTOR_USAGE]) {
    const wide = text.split("\n").filter((line) => [...line].length > 80);
    assert.deepEqual(wide, []);
  }
});

import assert from "node:assert/strict";
import { ACCOUNT_USAGE } from "../../src/program/commands/account_options.ts";
import { LOGS_USAGE, START_USAGE, STOP_USAGE } from "../../src/program/commands/background.ts";
import { BACKUP_USAGE, RESTORE_USAGE } from "../../src/program/commands/backup.ts";
import { CONTRACT_USAGE } from "../../src/program/commands/contract_options.ts";
import { DOCTOR_USAGE } from "../../src/program/commands/doctor.ts";
import { HELP } from "../../src/program/commands/help.ts";
import { KEY_USAGE } from "../../src/program/commands/key.ts";
import { MODEL_USAGE } from "../../src/program/model/command.ts";
import { SERVICE_USAGE } from "../../src/program/commands/autostart.ts";
import { TOKEN_USAGE } from "../../src/program/commands/token_options.ts";
import { UPDATE_USAGE } from "../../src/program/commands/update.ts";

Deno.test("help fits a terminal of 80 columns", () => {
  const background = [START_USAGE, STOP_USAGE, LOGS_USAGE, SERVICE_USAGE, UPDATE_USAGE];
  const backups = [BACKUP_USAGE, RESTORE_USAGE, KEY_USAGE];
  const accounts = [ACCOUNT_USAGE, TOKEN_USAGE, CONTRACT_USAGE];
  for (const text of [HELP, ...background, ...backups, ...accounts, DOCTOR_USAGE, MODEL_USAGE]) {
    const wide = text.split("\n").filter((line) => [...line].length > 80);
    assert.deepEqual(wide, []);
  }
});

import { backupsIn, timeOf } from "../backup/files.ts";
import { type Check, ok, warning } from "./finding.ts";

const DAY_MS = 86_400_000;
const ADVICE = "svc backup writes one; SVC_BACKUP_HOURS=24 makes one a day";

/** Whether there is a backup, and how old it is. */
export const backups: Check = {
  name: "backups",
  async look({ prepared: { settings: { backupDir, backupHours } } }) {
    const newest = (await backupsIn(backupDir)).at(-1);
    if (newest === undefined) {
      const found = `there is none in ${backupDir}`;
      return [backupHours > 0 ? warning(found, "the log says why") : ok(`${found}; ${ADVICE}`)];
    }
    const days = (Date.now() - timeOf(newest)) / DAY_MS;
    const found = `the newest is ${
      days < 1 ? "of the last 24 hours" : `${Math.floor(days)} days old`
    }`;
    const isLate = backupHours > 0 ? days * 24 > 2 * backupHours + 1 : days > 30;
    return [isLate ? warning(`${found}: ${newest}`, ADVICE) : ok(`${found}: ${newest}`)];
  },
};

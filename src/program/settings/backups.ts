import { isAgeRecipient } from "../../age_keys.ts";
import { checked, integer, optionalText } from "../../interfaces/fields.ts";

const recipients = (value: string | undefined) =>
  value === undefined || recipientsIn(value).every(isAgeRecipient)
    ? undefined
    : "must be recipients of age (age1…), comma-separated";

/** The recipients in the value of `SVC_BACKUP_RECIPIENTS`. */
export function recipientsIn(value = ""): string[] {
  return value.split(",").map((text) => text.trim()).filter((text) => text !== "");
}

export const BACKUPS = {
  backupHours: integer(
    "SVC_BACKUP_HOURS",
    0,
    0,
    8760,
    "Hours between the backups that a started relayer makes by itself; 0 = none",
  ),
  backupDir: {
    ...optionalText("SVC_BACKUP_DIR", "Folder of the backups, outside SVC_DATA_DIR"),
    fallbackText: "~/.svc/backups",
  },
  backupKeep: integer("SVC_BACKUP_KEEP", 7, 1, 10_000, "Backups that stay: so many of the newest"),
  backupRecipients: checked(
    optionalText(
      "SVC_BACKUP_RECIPIENTS",
      "Further recipients of age (age1…) that may open the backups, comma-separated",
    ),
    recipients,
  ),
};

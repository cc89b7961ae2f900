import type { Fields, Values } from "../../interfaces/fields.ts";
import { BACKUPS } from "./backups.ts";
import { LIMITS } from "./limits.ts";
import { LISTEN, SIDECAR } from "./listen.ts";
import { COMPATIBILITY, PROGRAM, TESTING } from "./program.ts";
import { ACCOUNTS, ROLES } from "./roles.ts";
import { DATA, WORK } from "./work.ts";

/** Every setting that the program reads itself, by the name it has in its settings. */
export const TABLE = {
  ...LISTEN,
  ...DATA,
  ...BACKUPS,
  ...ROLES,
  ...ACCOUNTS,
  ...WORK,
  ...LIMITS,
  ...SIDECAR,
  ...COMPATIBILITY,
  ...PROGRAM,
  ...TESTING,
};

/** Values straight from the table; what has a computed default may still be absent. */
export type TableValues = Values<typeof TABLE>;

/** Variables that the program reads itself. */
export const TABLE_VARIABLES: ReadonlySet<string> = new Set(
  Object.values(TABLE).map(({ env }) => env),
);

/** A heading of the reference and the settings below it. */
export interface Section {
  readonly title: string;
  /** What holds for all of its settings. */
  readonly note?: string;
  readonly fields: Fields;
}

/** The table in the order people read it. */
export const SECTIONS: readonly Section[] = [
  { title: "Listening", fields: LISTEN },
  { title: "Data and relayer key", fields: DATA },
  { title: "Backups", fields: BACKUPS },
  {
    title: "Plugins",
    note:
      "Each value is a name, a path or an import specifier. Settings that a plugin reads stand " +
      "below under its name; [operations](operations.md) puts those of the network together.",
    fields: ROLES,
  },
  { title: "Accounts", fields: ACCOUNTS },
  { title: "Requests and jobs", fields: WORK },
  { title: "Limits and quota", fields: LIMITS },
  {
    title: "Sidecar and MCP",
    note: "An invalid `MCP_*` number is a warning and means the default.",
    fields: SIDECAR,
  },
  { title: "Compatibility", fields: COMPATIBILITY },
  { title: "Log and build", fields: PROGRAM },
  {
    title: "Tests",
    note: "Refused unless `SVC_TEST=1`. Never set them where memories matter.",
    fields: TESTING,
  },
];

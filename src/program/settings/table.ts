import type { Field, Fields } from "../../interfaces/fields.ts";
import { DATA } from "./data.ts";
import { LIMITS } from "./limits.ts";
import { LISTEN } from "./listen.ts";
import { MODELS } from "./models.ts";
import { OUTSIDE_PLUGINS } from "./outside_plugins.ts";
import { COMPATIBILITY, PROGRAM, TESTING } from "./program.ts";
import { ACCOUNTS, ROLES } from "./roles.ts";
import { SIDECAR } from "./sidecar.ts";
import { WORK } from "./work.ts";

/** Every setting of the relayer, by the name it has in {@linkcode Settings}. */
export const TABLE = {
  ...LISTEN,
  ...DATA,
  ...ROLES,
  ...ACCOUNTS,
  ...WORK,
  ...LIMITS,
  ...SIDECAR,
  ...COMPATIBILITY,
  ...PROGRAM,
  ...MODELS,
  ...OUTSIDE_PLUGINS,
  ...TESTING,
};

/** A heading of the reference and the settings below it. */
export interface Section {
  /** Heading. */
  readonly title: string;
  /** What holds for all of its settings. */
  readonly note?: string;
  /** The settings. */
  readonly fields: Fields;
}

/** The table in the order people read it. */
export const SECTIONS: readonly Section[] = [
  { title: "Listening", fields: LISTEN },
  { title: "Data and relayer key", fields: DATA },
  {
    title: "Plugins",
    note: "Each value is a name, a path or an import specifier. Settings of a chosen plugin are " +
      "listed in its own documentation.",
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
    title: "Models",
    note: "Read by the plugin named in front, besides `SVC_EMBEDDING_MODEL` and " +
      "`SVC_EMBEDDING_DIMENSIONS`; see [models](models.md).",
    fields: MODELS,
  },
  {
    title: "Networked plugins",
    note: "Read by the plugin named in front; [operations](operations.md) puts them together.",
    fields: OUTSIDE_PLUGINS,
  },
  {
    title: "Tests",
    note: "Refused unless `SVC_TEST=1`. Never set them where memories matter.",
    fields: TESTING,
  },
];

/** Names that belong to the stdio package and are no mistake beside a relayer. */
export const STDIO_NAMES: readonly string[] = [
  "SVC_SERVER_URL",
  "SVC_WEB_URL",
  "SVC_CLIENT_LABEL",
  "SVC_NAMESPACE",
  "SVC_MCP_TRANSPORT",
  "SVC_NO_BROWSER",
  "SVC_MCP_DEBUG",
  "SVC_CREDENTIALS_FILE",
];

/** Every field of the table. */
export const ALL_FIELDS: readonly Field<unknown>[] = Object.values(TABLE);

import { invalid } from "../invalid.ts";
import { PERMISSIONS } from "../../wire/keys.ts";
import { TOKEN_LABEL } from "../../wire/session_token.ts";
import { SESSION_TOKEN_SECONDS_MAX, SESSION_TOKEN_SECONDS_MIN } from "../../wire/limits.ts";
import { checkId, checkLabel, parseDuration, parsePermissions } from "./account_options.ts";
import { parseFlags, UsageError } from "./io.ts";

export const TOKEN_USAGE = `Usage: svc token <command>

A token lets one app in: it is all that a host of MCP has to send, as
Authorization: Bearer svct1.… . It stands for a key of its own, so that it can
be taken back without touching anything else.

  create           makes a token; it is shown once. Needs the running relayer
  list             shows the keys of tokens
  revoke <which>   ends a token: its label, or the end of its key, at least 6
                   characters

  --expires <time>      such as 30d, 12h or 30m; default 90d, at most 366d
  --label <text>        name of the app, at most 57 bytes
  --read-only           may recall and list, and write nothing
  --permissions <list>  some of read,write,manage (default: read,write)
  --namespace <name>    namespace of calls that name none
  --only <namespace>    there is no other namespace for it than this, or those
                        that begin so, as in notes/; may be repeated
  --account <0x…>       account; default: the only one
  --wallet-file <path>  where accounts are on chain: the owner's private key,
                        which pays for gas
  --json                machine output

Where no relayer runs on this computer, create makes a token of the key that
this computer is signed in with. It ends with that key, and not before.

Example: svc token create --label "Home automation" --read-only --expires 30d
`;

const ACTIONS = ["create", "list", "revoke"] as const;
const TEXT = { type: "string" } as const;
const FLAGS = {
  expires: TEXT,
  label: TEXT,
  "read-only": { type: "boolean", default: false },
  permissions: TEXT,
  namespace: TEXT,
  only: { type: "string", multiple: true },
  account: TEXT,
  "wallet-file": TEXT,
  json: { type: "boolean", default: false },
} as const;

/** What follows `token`. */
export type TokenOptions = ReturnType<typeof parseTokenOptions>;

function lifetime(text: string): number {
  const seconds = parseDuration("--expires", text) / 1000;
  if (seconds < SESSION_TOKEN_SECONDS_MIN || seconds > SESSION_TOKEN_SECONDS_MAX) {
    throw invalid("--expires must be from 1m to 366d");
  }
  return seconds;
}

/**
 * Reads what follows `token` on the command line.
 *
 * @throws {UsageError} for an unknown command or flag.
 * @throws {SvcError} `invalid_parameter` for a value that breaks a rule.
 */
export function parseTokenOptions(args: readonly string[]) {
  const { values, positionals } = parseFlags(args, FLAGS);
  const [word = "", which, ...rest] = positionals;
  const action = ACTIONS.find((name) => name === word);
  if (action === undefined || rest.length > 0 || (action === "revoke") !== (which !== undefined)) {
    const wanted = action === "revoke" ? "revoke needs a label, or the end of a key" : undefined;
    throw new UsageError(wanted ?? `Unknown token command "${positionals.join(" ")}"`);
  }
  if (values["read-only"] && values.permissions !== undefined) {
    throw new UsageError("--read-only is --permissions read: give one of them");
  }
  const asked = values["read-only"] ? "read" : values.permissions;
  return {
    action,
    which: which ?? "",
    account: checkId("--account", values.account),
    /** How long the token lasts, seconds. */
    seconds: lifetime(values.expires ?? "90d"),
    label: checkLabel(TOKEN_LABEL + (values.label ?? "app").trim()),
    /** What is asked for; nothing else than read and write by itself. */
    permissions: parsePermissions(asked ?? PERMISSIONS.filter((word) => word !== "manage").join()),
    namespace: values.namespace || undefined,
    namespaces: values.only,
    walletFile: values["wallet-file"],
  };
}

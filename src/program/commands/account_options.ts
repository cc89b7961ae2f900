import { invalid } from "../invalid.ts";
import type { Permission } from "../../interfaces/mod.ts";
import { isLowOrder, isObjectId, isPublicKey, PERMISSIONS } from "../../wire/keys.ts";
import { parseFlags, UsageError } from "./io.ts";

export const ACCOUNT_USAGE = `Usage: svc account <command>

  create           makes an account and registers a key for it; shows the
                   recovery words that own it
  recover          registers a key for the account of recovery words, which are
                   read from standard input
  list             shows accounts and their keys
  add-key          registers another key
  remove-key       removes a key; needs --public-key
  remove-all-keys  removes every key: no app works any more

  --owner <0x…>         address of the owner; default: that of the key
  --account <0x…>       account to change; default: the only one
  --public-key <hex>    registers this Ed25519 key instead of a new one
  --label <text>        name of the key, at most 64 bytes
  --permissions <list>  some of read,write,manage (default: all)
  --expires-in <time>   such as 90d, 12h or 30m; default: never
  --only <namespace>    there is no other namespace for the key than this, or
                        those that begin so, as in notes/; may be repeated.
                        On chain everybody can read these names
  --wallet-file <path>  where accounts are on chain: the owner's private key,
                        which pays for gas
  --save                writes the new key to the credentials file
  --force               with --save, replaces credentials that are there
  --json                machine output

Example: svc account create --save
`;

const ACTIONS = ["create", "list", "add-key", "remove-key", "remove-all-keys", "recover"] as const;
const UNITS: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
};

const TEXT = { type: "string" } as const;
const SEVERAL = { type: "string", multiple: true } as const;
const ON = { type: "boolean", default: false } as const;
const FLAGS = {
  owner: TEXT,
  account: TEXT,
  "public-key": TEXT,
  label: TEXT,
  permissions: TEXT,
  "expires-in": TEXT,
  only: SEVERAL,
  "wallet-file": TEXT,
  save: ON,
  force: ON,
  json: ON,
} as const;

/**
 * Reads a list of permissions.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function parsePermissions(text: string): Permission[] {
  const words = text.split(",").map((word) => word.trim());
  const known = PERMISSIONS.filter((word) => words.includes(word));
  if (known.length === 0 || known.length !== words.length) {
    throw invalid("--permissions must be some of read,write,manage");
  }
  return known;
}

/**
 * Milliseconds of a time such as `90d`, that follows a flag.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function parseDuration(flag: string, text: string): number {
  const match = /^([1-9]\d{0,5})([dhms])$/.exec(text);
  if (match === null) throw invalid(`${flag} must be a time such as 90d, 12h, 30m or 45s`);
  return Number(match[1]) * UNITS[match[2]!]!;
}

/**
 * An id that follows a flag, in lower case.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function checkId(flag: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isObjectId(text)) {
    throw invalid(`${flag} must be 0x and 64 hex characters`);
  }
  return text?.toLowerCase();
}

function checkPublicKey(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isPublicKey(text) || isLowOrder(Uint8Array.fromHex(text))) {
    throw invalid("--public-key must be an Ed25519 public key of 64 hex characters");
  }
  return text.toLowerCase();
}

/**
 * The name of a key.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function checkLabel(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes < 1 || bytes > 64 || /\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw invalid("--label must have 1 to 64 bytes without control characters");
  }
  return text;
}

/** What follows `account`: the only account, and a new key, where none is named. */
export type AccountOptions = ReturnType<typeof parseAccountOptions>;

/**
 * Reads what follows `account` on the command line.
 *
 * @throws {UsageError} for an unknown command or flag.
 * @throws {SvcError} `invalid_parameter` for a value that breaks a rule.
 */
export function parseAccountOptions(args: readonly string[]) {
  const { values, positionals } = parseFlags(args, FLAGS);
  const action = ACTIONS.find((name) => name === positionals[0]);
  if (action === undefined || positionals.length > 1) {
    throw new UsageError(`Unknown account command "${positionals.join(" ")}"`);
  }
  const publicKey = checkPublicKey(values["public-key"]);
  const makesKey = action === "create" || action === "add-key" || action === "recover";
  if (values.save && (publicKey !== undefined || !makesKey)) {
    throw new UsageError("--save goes with a new key only: leave out --public-key");
  }
  if (action === "recover" && (values.owner !== undefined || values.account !== undefined)) {
    throw new UsageError("The words of recover say which account: no --owner, no --account");
  }
  if (action === "remove-key" && publicKey === undefined) {
    throw new UsageError("remove-key needs --public-key");
  }
  if (action === "remove-all-keys" && publicKey !== undefined) {
    throw new UsageError("remove-all-keys takes no --public-key");
  }
  const expiry = values["expires-in"];
  return {
    action,
    owner: checkId("--owner", values.owner),
    account: checkId("--account", values.account),
    publicKey,
    label: checkLabel(values.label ?? "Terminal"),
    permissions: parsePermissions(values.permissions ?? PERMISSIONS.join()),
    /** How long the key is valid, milliseconds; for good when absent. */
    expiresInMs: expiry === undefined ? undefined : parseDuration("--expires-in", expiry),
    namespaces: values.only,
    walletFile: values["wallet-file"],
    save: values.save,
    force: values.force,
  };
}

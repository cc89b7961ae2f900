import { invalid } from "../invalid.ts";
import { resolve } from "node:path";
import { pause } from "../../deadline.ts";
import { makeAppToken, type TokenOwner } from "../../client/tokens/app_token.ts";
import { type Credentials, makeDelegateKey } from "../../client/mod.ts";
import { credentialsPath, readCredentials } from "../../client/credentials_file.ts";
import { keyProof } from "../../client/key_proof.ts";
import { SvcError } from "../../errors.ts";
import type { Account, DelegateKey } from "../../interfaces/mod.ts";
import { onOneLine } from "../../printable.ts";
import { boundTo, chosenAccount, keyJson, relayerUrl } from "./account.ts";
import { type AccountStore, openAccounts } from "./account_store.ts";
import { type CommandIo, type Printed, runGroup } from "./io.ts";
import { TOKEN_LABEL } from "../../wire/session_token.ts";
import { parseTokenOptions, TOKEN_USAGE, type TokenOptions } from "./token_options.ts";

/** How often a key that was just added is tried: a node of a chain may be a little behind. */
const TRIES = 15;
const TRY_MS = 1000;
/** Fewest characters that name a key by its end. */
const SUFFIX_CHARACTERS = 6;

/** What a relayer answers. */
type MadeToken = Awaited<ReturnType<typeof makeAppToken>>;

/** Asks a relayer for a token. */
function ask(of: TokenOwner, options: TokenOptions): Promise<MadeToken> {
  const { seconds, permissions, namespace } = options;
  return makeAppToken(of, {
    expires_in: seconds,
    permissions,
    ...(namespace === undefined ? {} : { namespace }),
  });
}

/** Asks until the relayer knows the key. */
async function askForNew(of: TokenOwner, options: TokenOptions, tries: number): Promise<MadeToken> {
  try {
    return await ask(of, options);
  } catch (error) {
    const isUnknown = error instanceof SvcError && error.code === "account_not_authorized";
    if (!isUnknown || tries <= 1) throw error;
    await pause(TRY_MS);
    return await askForNew(of, options, tries - 1);
  }
}

/** Adds a key to the account and makes its token; without a token the key goes, too. */
async function createOwn(
  store: AccountStore,
  { accountId }: Account,
  options: TokenOptions,
): Promise<Printed> {
  const relayer = relayerUrl(store);
  const { privateKey, publicKey } = await makeDelegateKey();
  const { label, permissions, seconds, namespaces } = options;
  const account = await store.admin.addKey(accountId, {
    publicKey,
    label,
    permissions,
    proof: await keyProof(privateKey, accountId),
    expiresAt: Date.now() + seconds * 1000,
    ...(namespaces === undefined ? {} : { namespaces }),
  });
  const key = account.keys.find((key) => key.publicKey === publicKey)!;
  const tries = store.wallet === undefined ? 3 : TRIES;
  try {
    const made = await askForNew({ relayer, accountId, privateKey }, options, tries);
    return printToken(made, relayer, accountId, key, options);
  } catch (error) {
    await store.admin.removeKey(accountId, publicKey);
    throw error;
  }
}

/** Makes a token of the key that this computer is signed in with. */
async function createOfSaved(saved: Credentials, options: TokenOptions): Promise<Printed> {
  if (options.namespaces !== undefined) {
    throw invalid("--only needs a key of its own: run it where the relayer runs");
  }
  const { relayerUrl: relayer, accountId, delegatePrivateKey: privateKey } = saved;
  const made = await ask({ relayer, accountId, privateKey }, options);
  return printToken(made, relayer, accountId, undefined, options);
}

function printToken(
  { token, expires_in }: MadeToken,
  relayer: string,
  accountId: string,
  key: DelegateKey | undefined,
  { permissions, namespace }: TokenOptions,
): Printed {
  const expiresAt = new Date(Date.now() + expires_in * 1000).toISOString();
  const mcp = `${relayer}/api/mcp`;
  const answer = {
    token,
    mcp_url: mcp,
    account_id: accountId,
    public_key: key?.publicKey,
    label: key?.label,
    permissions,
    namespace,
    namespaces: key?.namespaces,
    expires_at: expiresAt,
  };
  const end = key === undefined
    ? "It stands for the key of this computer, and ends when that key is removed."
    : `End it with: svc token revoke ${key.publicKey.slice(-8)}`;
  const lines = [
    "Token created",
    `  address      ${mcp}`,
    `  permissions  ${permissions.join(", ")}`,
    ...(namespace === undefined ? [] : [`  namespace    ${onOneLine(namespace)}`]),
    ...(key?.namespaces === undefined ? [] : [`  only         ${boundTo(key.namespaces)}`]),
    `  expires      ${expiresAt}`,
    ...(key === undefined ? [] : [`  key          …${key.publicKey.slice(-8)}`]),
    "",
    token,
    "",
    "It is shown only now. The app sends it as: Authorization: Bearer <token>",
    end,
  ];
  return [answer, lines.join("\n") + "\n"];
}

async function create(store: AccountStore, options: TokenOptions, io: CommandIo): Promise<Printed> {
  const isEmpty = options.account === undefined && store.wallet === undefined &&
    (await store.admin.list()).length === 0;
  if (!isEmpty) return await createOwn(store, await chosenAccount(store, options), options);
  const path = credentialsPath(io.env);
  const { credentials } = path === undefined ? {} : await readCredentials(path);
  if (credentials !== undefined) return await createOfSaved(credentials, options);
  throw new SvcError("not_found", "There is no account yet: account create, or login");
}

const tokenKeys = ({ keys }: Account) => keys.filter(({ label }) => label.startsWith(TOKEN_LABEL));

function printKeys(accounts: readonly Account[]): Printed {
  const rows = accounts.flatMap((account) =>
    tokenKeys(account).map((key) => ({ account_id: account.accountId, ...keyJson(key) }))
  );
  const lines = rows.map(({ public_key, label, permissions, expires_at = "never", namespaces }) => {
    const name = onOneLine(label.slice(TOKEN_LABEL.length));
    const may = permissions.join(", ");
    const only = namespaces === undefined ? "" : `, only ${boundTo(namespaces)}`;
    return `…${public_key.slice(-8)}  ${name} (${may}${only}, until ${expires_at})\n`;
  });
  return [{ tokens: rows }, lines.join("") || "There are no tokens: svc token create\n"];
}

async function revoke(store: AccountStore, account: Account, which: string): Promise<Printed> {
  const end = which.toLowerCase().replace(/^…/, "");
  const found = tokenKeys(account).filter(({ label, publicKey }) =>
    label === TOKEN_LABEL + which || label === which ||
    end.length >= SUFFIX_CHARACTERS && publicKey.endsWith(end)
  );
  const key = found[0];
  if (key === undefined) throw new SvcError("not_found", "There is no such token: svc token list");
  if (found.length > 1) throw invalid("Several tokens are called so: give the end of the key");
  await store.admin.removeKey(account.accountId, key.publicKey);
  const name = onOneLine(key.label.slice(TOKEN_LABEL.length));
  const answer = { account_id: account.accountId, ...keyJson(key) };
  return [answer, `Token revoked: ${name} (…${key.publicKey.slice(-8)})\n`];
}

async function run(options: TokenOptions, io: CommandIo): Promise<Printed> {
  const { walletFile, action } = options;
  await using store = await openAccounts(io.env, io.cwd, {
    walletFile: walletFile === undefined ? undefined : resolve(io.cwd, walletFile),
    changes: action !== "list",
  });
  if (action === "create") return await create(store, options, io);
  if (action === "revoke") {
    return await revoke(store, await chosenAccount(store, options), options.which);
  }
  const isOne = options.account !== undefined || store.settings.accounts === "sui";
  return printKeys(isOne ? [await chosenAccount(store, options)] : await store.admin.list());
}

/**
 * Runs `token …`: makes, lists and ends tokens of apps, each with a delegate key of its own.
 *
 * @param args What follows `token`.
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runToken(args: readonly string[], io: CommandIo): Promise<number> {
  const group = { usage: TOKEN_USAGE, run: () => run(parseTokenOptions(args), io) };
  return await runGroup(group, args, io);
}

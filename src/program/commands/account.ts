import { invalid } from "../invalid.ts";
import { resolve } from "node:path";
import {
  credentialsPath,
  readCredentials,
  writeCredentials,
} from "../../client/credentials_file.ts";
import { credentialsOf } from "../../client/credentials.ts";
import { makeDelegateKey } from "../../client/mod.ts";
import { ownerPath, writeOwner } from "../../client/owner_file.ts";
import { makeRecoveryWords, seedOfRecoveryWords } from "../../client/recovery_words.ts";
import { SvcError } from "../../errors.ts";
import type { Account, DelegateKey } from "../../interfaces/mod.ts";
import { onOneLine } from "../../printable.ts";
import { keyProof } from "../../client/key_proof.ts";
import { addressOf } from "../../wire/keys.ts";
import { formatHost } from "../settings/parsers.ts";
import { ACCOUNT_USAGE, type AccountOptions, parseAccountOptions } from "./account_options.ts";
import { type AccountStore, openAccounts } from "./account_store.ts";
import { type CommandIo, type Printed, readLine, runGroup } from "./io.ts";

const time = (ms: number | undefined) => ms === undefined ? undefined : new Date(ms).toISOString();

/** A key for machines. */
export const keyJson = (key: DelegateKey) => ({
  public_key: key.publicKey,
  address: key.address,
  label: key.label,
  permissions: key.permissions,
  created_at: time(key.createdAt),
  expires_at: time(key.expiresAt),
  namespaces: key.namespaces,
});

/** Namespaces of a bound key, on one line. */
export const boundTo = (namespaces: readonly string[]): string =>
  namespaces.map(onOneLine).join(", ");

/** A key of an account after a change, with its private half where it is saved nowhere. */
interface ChangedKey {
  readonly account: Account;
  readonly publicKey: string;
  readonly privateKey?: string | undefined;
  readonly savedTo?: string | undefined;
  /** Words that own a new account, and where they are saved. */
  readonly words?: string | undefined;
  readonly ownerFile?: string | undefined;
}

/** What to do with recovery words, and where they are besides. */
function aboutWords(ownerFile: string | undefined): string[] {
  const kept = ownerFile === undefined
    ? "They are shown only now, and kept nowhere."
    : `They are also in ${ownerFile}.`;
  return [
    `Whoever has these words owns the account. ${kept}`,
    "Write them on paper, or put them into a password manager: they open the account",
    "on a dashboard, in any browser, and in a terminal with: account recover",
  ];
}

function printKey(title: string, changed: ChangedKey, packageId: string): Printed {
  const { account, privateKey, publicKey, savedTo, words, ownerFile } = changed;
  const key = account.keys.find((key) => key.publicKey === publicKey);
  const answer = {
    account_id: account.accountId,
    owner: account.owner,
    package_id: packageId,
    public_key: publicKey,
    ...(key && keyJson(key)),
    private_key: privateKey,
    saved_to: savedTo,
    recovery_words: words,
    owner_file: ownerFile,
  };
  const lines = [
    title,
    `  account      ${account.accountId}`,
    `  owner        ${account.owner}`,
    `  package      ${packageId}`,
    `  public key   ${publicKey}`,
  ];
  if (key !== undefined) lines.push(`  permissions  ${key.permissions.join(", ")}`);
  if (key?.namespaces !== undefined) lines.push(`  only         ${boundTo(key.namespaces)}`);
  if (key?.expiresAt !== undefined) lines.push(`  expires      ${time(key.expiresAt)}`);
  if (privateKey !== undefined) {
    lines.push(`  private key  ${privateKey}`, "", "Keep the private key: it is shown only now.");
  }
  if (savedTo !== undefined) lines.push("", `Signed in: the key is saved in ${savedTo}`);
  if (words !== undefined) {
    lines.push("", "Recovery words:", "", `  ${words}`, "", ...aboutWords(ownerFile));
  }
  return [answer, lines.join("\n") + "\n"];
}

function printAccounts(accounts: readonly Account[], packageId: string): Printed {
  const rows = accounts.map(({ accountId, owner, active, keys }) => ({
    account_id: accountId,
    owner,
    active,
    keys: keys.map(keyJson),
  }));
  const lines = rows.flatMap(({ account_id, owner, active, keys }) => [
    `${account_id}${active ? "" : " (deactivated)"}\n`,
    `  owner ${owner}\n`,
    ...keys.map(({ public_key, label, permissions, expires_at, namespaces }) => {
      const end = expires_at === undefined ? "" : `, until ${expires_at}`;
      const only = namespaces === undefined ? "" : `, only ${boundTo(namespaces)}`;
      return `  key   ${public_key} ${onOneLine(label)} (${permissions.join(", ")}${only}${end})\n`;
    }),
  ]);
  const text = lines.join("") || "There is no account yet: account create --save\n";
  return [{ package_id: packageId, accounts: rows }, text];
}

/**
 * The account that options name, else the only one.
 *
 * @throws {SvcError} `not_found`; `invalid_parameter` where there are several.
 */
export async function chosenAccount(
  store: AccountStore,
  options: Partial<Pick<AccountOptions, "account" | "owner">>,
): Promise<Account> {
  if (options.account !== undefined || options.owner !== undefined) {
    const account = options.account !== undefined
      ? await store.accounts.get(options.account)
      : await store.admin.ofOwner(options.owner ?? "");
    if (account === undefined) throw new SvcError("not_found", "There is no such account");
    return account;
  }
  const all = await store.admin.list();
  const account = all[0];
  if (account === undefined) {
    throw new SvcError("not_found", "There is no account yet: account create");
  }
  if (all.length > 1) throw invalid(`There are ${all.length} accounts: say which with --account`);
  return account;
}

/** What `list` shows: every account where the relayer keeps them, the named one on a chain. */
async function listed(store: AccountStore, options: AccountOptions): Promise<Account[]> {
  const all = await store.admin.list();
  if (options.account === undefined && options.owner === undefined) {
    if (store.settings.accounts !== "sui" || store.wallet !== undefined) return all;
    throw invalid("Accounts are on chain: say which with --account, --owner or --wallet-file");
  }
  return [await chosenAccount(store, options)];
}

/**
 * Address of the relayer as saved credentials name it.
 *
 * @throws {SvcError} `invalid_parameter` where it is not known before a start.
 */
export function relayerUrl({ settings }: AccountStore): string {
  const { publicUrl, host, port, tlsCertFile } = settings;
  if (publicUrl !== undefined) return publicUrl;
  if (port === 0) {
    throw invalid("The relayer's address is not known: set SVC_PUBLIC_URL or a fixed SVC_PORT");
  }
  return `${tlsCertFile === undefined ? "http" : "https"}://${formatHost(host)}:${port}`;
}

/** Path of the credentials file. Refuses to replace a key that it holds without `--force`. */
async function savePath(options: AccountOptions, io: CommandIo): Promise<string | undefined> {
  if (!options.save) return undefined;
  const path = credentialsPath(io.env);
  if (path === undefined) throw invalid("SVC_CREDENTIALS_FILE is needed where HOME is not set");
  const { credentials } = await readCredentials(path);
  if (credentials !== undefined && !options.force) {
    throw invalid(`${path} holds the key of account ${credentials.accountId}: --force replaces it`);
  }
  return path;
}

/** Options, and the recovery words that were typed in. */
type WithWords = AccountOptions & { readonly words?: string };

/** `create` and `add-key`: both end with one more key on an account. */
async function addKey(
  store: AccountStore,
  options: WithWords,
  io: CommandIo,
): Promise<ChangedKey> {
  if (store.wallet !== undefined && options.publicKey !== undefined) {
    throw invalid("On chain a key must prove that somebody holds it: leave out --public-key");
  }
  const path = await savePath(options, io);
  if (path !== undefined) relayerUrl(store);
  const pair = options.publicKey === undefined ? await makeDelegateKey() : undefined;
  const publicKey = pair?.publicKey ?? options.publicKey ?? "";
  if (await store.accounts.resolve(publicKey) !== undefined) throw new SvcError("key_exists");
  const owner = options.owner ?? store.wallet;
  // Whoever brings a key of their own keeps what owns the account, too.
  const words = options.action === "create" && owner === undefined && pair !== undefined
    ? makeRecoveryWords()
    : undefined;
  const before = options.action === "create"
    ? await store.admin.create(owner ?? await ownerOf(words) ?? addressOf(publicKey))
    : await chosenAccount(store, options);
  const { label, permissions, expiresInMs, namespaces } = options;
  const account = await store.admin.addKey(before.accountId, {
    publicKey,
    label,
    permissions,
    ...(pair === undefined ? {} : { proof: await keyProof(pair.privateKey, before.accountId) }),
    ...(expiresInMs === undefined ? {} : { expiresAt: Date.now() + expiresInMs }),
    ...(namespaces === undefined ? {} : { namespaces }),
  });
  if (path !== undefined && pair !== undefined) {
    const { accountId, owner: walletAddress } = account;
    const given = { walletAddress, accountId, packageId: store.packageId, label };
    const createdAt = new Date().toISOString();
    const { webUrl } = store.settings;
    const addresses = { relayerUrl: relayerUrl(store), webUrl };
    const credentials = credentialsOf(pair, { ...given, ...addresses, createdAt });
    await writeCredentials(path, credentials);
  }
  const known = words ?? options.words;
  const ownerFile = path === undefined || known === undefined ? undefined : ownerPath(path);
  if (ownerFile !== undefined && known !== undefined) {
    const { webUrl } = store.settings;
    await writeOwner(ownerFile, { words: known, owner: account.owner, webUrl });
  }
  const privateKey = path === undefined ? pair?.privateKey : undefined;
  return { account, publicKey, privateKey, savedTo: path, words, ownerFile };
}

/** Address of the wallet that recovery words are. */
async function ownerOf(words: string | undefined): Promise<string | undefined> {
  const seed = words === undefined ? undefined : await seedOfRecoveryWords(words);
  return seed && (await makeDelegateKey(seed)).address;
}

/** Asks for recovery words; the options of the account that they own. */
async function recovered(
  store: AccountStore,
  options: AccountOptions,
  io: CommandIo,
): Promise<WithWords> {
  if (store.settings.accounts === "sui") {
    throw invalid("Accounts are on chain: add a key with add-key and --wallet-file");
  }
  io.writeError("Recovery words: ");
  const words = (await readLine(io)).toLowerCase().split(/\s+/).join(" ");
  const owner = await ownerOf(words);
  if (owner === undefined) {
    throw invalid("These are no recovery words: they are twelve, from a list, and one is a check");
  }
  if (await store.admin.ofOwner(owner) === undefined) {
    throw new SvcError("not_found", "No account of this relayer belongs to these words");
  }
  return { ...options, owner, words };
}

async function run(options: AccountOptions, io: CommandIo): Promise<Printed> {
  const { walletFile, action } = options;
  await using store = await openAccounts(io.env, io.cwd, {
    walletFile: walletFile === undefined ? undefined : resolve(io.cwd, walletFile),
    changes: action !== "list",
  });
  const { packageId } = store;
  if (action === "list") return printAccounts(await listed(store, options), packageId);
  if (action === "remove-all-keys") {
    let account = await chosenAccount(store, options);
    for (const { publicKey } of account.keys) {
      account = await store.admin.removeKey(account.accountId, publicKey);
    }
    return printAccounts([account], packageId);
  }
  if (action !== "remove-key") {
    const title = action === "create" ? "Account created" : "Key added";
    const all = action === "recover" ? await recovered(store, options, io) : options;
    return printKey(title, await addKey(store, all, io), packageId);
  }
  const publicKey = options.publicKey ?? "";
  const owner = options.account === undefined && options.owner === undefined
    ? await store.accounts.resolve(publicKey)
    : await chosenAccount(store, options);
  if (owner === undefined) throw new SvcError("not_found", "No account lists this key");
  const account = await store.admin.removeKey(owner.accountId, publicKey);
  return printKey("Key removed", { account, publicKey }, packageId);
}

/**
 * Runs `account …`: creates, lists and changes accounts where the relayer itself keeps them, and the
 * account of a wallet where they are on chain. Works beside a running relayer, which notices the
 * change.
 *
 * @param args What follows `account`.
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runAccount(args: readonly string[], io: CommandIo): Promise<number> {
  const group = { usage: ACCOUNT_USAGE, run: () => run(parseAccountOptions(args), io) };
  return await runGroup(group, args, io);
}

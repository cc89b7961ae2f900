import { credentialsPath, readCredentials } from "../client/credentials_file.ts";
import { ownerPath } from "../client/owner_file.ts";
import type { CommandIo } from "./commands/io.ts";
import { isLoopback } from "./settings/parsers.ts";
import type { Settings } from "./settings/mod.ts";
import { COMMAND } from "../wire/version.ts";

/** Whether a file is there; one that cannot be looked at counts as there. */
async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}

/**
 * Whether a start is the first one of a program that is this machine's alone: nobody has been signed
 * in, no data is there, and no other machine reaches it.
 */
async function isFirst(settings: Settings, path: string): Promise<boolean> {
  const { firstAccount, accounts, publicUrl, host, port, dataDir } = settings;
  if (!firstAccount || accounts !== "local" || port === 0) return false;
  if (publicUrl !== undefined || !isLoopback(host)) return false;
  if (await exists(`${dataDir}/core.db`)) return false;
  const { reason } = await readCredentials(path);
  return reason === "there is none";
}

/**
 * Makes the account of this machine at the first start: its key signs the terminal in, and its recovery
 * words open the dashboard. Says what to do next. A failure is the relayer's to tell, whose files are
 * the same.
 */
export async function makeFirstAccount(settings: Settings, io: CommandIo): Promise<void> {
  const path = credentialsPath(io.env);
  if (path === undefined || !await isFirst(settings, path)) return;
  const { runAccount } = await import("./commands/account.ts");
  const quiet = { ...io, write() {}, writeError() {} };
  if (await runAccount(["create", "--save"], quiet) !== 0) return;
  io.write(`
You have an account on this computer now. Its key is in
${path}, its recovery words are in
${ownerPath(path)}: save them elsewhere, too.

The relayer starts now; the first time it fetches less than 60 MB. When it
listens, in another terminal:

  ${COMMAND} remember "I am allergic to peanuts"
  ${COMMAND} recall "what should I not cook for them?"
  ${COMMAND} open

`);
}

import type { Env } from "../interfaces/fields.ts";
import { readSettings, type Settings } from "./settings/mod.ts";
import { formatValue } from "./settings/print.ts";
import { TABLE } from "./settings/table.ts";
import { COMMAND } from "../wire/version.ts";

/** What `account create` reads besides the relayer's address, to find and to check its place. */
const READ = [
  "dataDir",
  "keyFile",
  "keyPassphraseFile",
  "keyCommand",
  "accounts",
  "packageId",
] as const;

/** A text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** An assignment in front of a command, with a blank after: of a POSIX shell, or of PowerShell. */
function assignment(name: string, value: string, isWindows: boolean): string {
  if (!isWindows) return `${name}=${shellWord(value)} `;
  return `$env:${name}='${value.replaceAll("'", "''")}'; `;
}

/** What a terminal that knows none of the relayer's settings needs of them. */
function needed(settings: Settings, env: Env, address: string): [string, string][] {
  const { HOME, USERPROFILE } = env;
  const { settings: plain } = readSettings({ HOME, USERPROFILE });
  const values: [string, string][] = [];
  // The public address stands for host and port, also for a port that the system chose.
  const url = settings.publicUrl ?? address;
  if (url !== `http://${plain.host}:${plain.port}`) values.push([TABLE.publicUrl.env, url]);
  for (const key of READ) {
    const value = settings[key];
    // The command is not shown: it may hold a password.
    if (value !== undefined && value !== plain[key]) {
      values.push([TABLE[key].env, key === "keyCommand" ? "…" : formatValue(value)]);
    }
  }
  return values;
}

/**
 * What to do when there is no account yet, ready to paste.
 *
 * @param env Where the settings come from.
 * @param address Where the relayer listens.
 * @param dashboard Address of the dashboard, where there is one.
 * @param isWindows Whether they are pasted into PowerShell.
 */
export function welcome(
  settings: Settings,
  env: Env,
  address: string,
  dashboard?: string,
  isWindows: boolean = Deno.build.os === "windows",
): string {
  const first = dashboard === undefined ? "In" : `Open ${dashboard} in a browser, or in`;
  // The other two find the relayer in what the first one saves.
  const set = needed(settings, env, address)
    .map(([name, value]) => assignment(name, value, isWindows)).join("");
  return `
The relayer is ready at ${address} and has no account yet. ${first} another terminal:

  ${set}${COMMAND} account create --save
  ${COMMAND} remember "I am allergic to peanuts"
  ${COMMAND} recall "what should I not cook for them?"

`;
}

/**
 * Puts the package into the configuration of an MCP host (docs/protocol.md#13.4).
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { platform } from "node:process";
import { onOneLine, printable } from "../../src/printable.ts";
import { type CliIo, CommandError, EXIT, suggestion } from "../io.ts";
import { print, type Session } from "../session.ts";
import { type ConfigFile, readConfig, replaceConfig } from "./config_file.ts";
import { diffLines } from "./diff.ts";
import { ConfigError, type Edit, SERVER_NAME, type ServerEntry } from "./entry.ts";
import { type Host, HOSTS } from "./hosts.ts";
import { editJson, jsonChange } from "./json_config.ts";
import { launchCommand } from "./launch.ts";
import { editToml, tomlChange } from "./toml_config.ts";

/** Longest answer that is read, in bytes. */
const ANSWER_BYTES = 1024;

const homeless = (): CommandError => new CommandError(EXIT.error, "No home directory is known.");

function hostOf(name: string): Host {
  const host = Object.hasOwn(HOSTS, name) ? HOSTS[name] : undefined;
  if (host !== undefined) return host;
  const names = Object.keys(HOSTS);
  const hint = suggestion(name, names) || ` Known hosts: ${names.join(", ")}.`;
  throw new CommandError(EXIT.usage, `Unknown host "${onOneLine(name)}".${hint}`);
}

function entryOf(host: Host, { settings, credentials, path, line, io }: Session): ServerEntry {
  if (path === undefined) throw homeless();
  // The host has neither this shell's variables nor its working directory.
  const file = io.env.SVC_CREDENTIALS_FILE ? resolve(io.env.SVC_CREDENTIALS_FILE) : undefined;
  return {
    ...(host.typed ? { type: "stdio" } : {}),
    ...launchCommand({
      relayers: [settings.relayer, ...(credentials ? [credentials.relayerUrl] : [])],
      credentialsPath: file ?? path,
      env: io.env,
      flags: line.packageFlags,
    }),
    ...(file ? { env: { SVC_CREDENTIALS_FILE: file } } : {}),
  };
}

function edit(host: Host, text: string, entry: ServerEntry): Edit {
  if (host.format === "toml") return editToml(text, host.servers, entry);
  return editJson(text, host.servers, entry, host.format === "jsonc");
}

interface Plan {
  readonly host: Host;
  readonly file: ConfigFile;
  readonly entry: ServerEntry;
  readonly edit: Edit;
}

async function planOf(session: Session): Promise<Plan> {
  const { line, io } = session;
  const host = hostOf(line.words);
  const path = host.path({ env: io.env, platform });
  if (path === undefined) throw homeless();
  const entry = entryOf(host, session);
  const file = await readConfig(path);
  try {
    return { host, file, entry, edit: edit(host, file.text, entry) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const message = `${file.path} is left as it is: ${error.message}.`;
    throw new ConfigError(`${message} To see what belongs there: install ${line.words} --print`);
  }
}

function shownDiff({ host, file, edit }: Plan): string {
  const change = host.format === "toml" ? tomlChange : jsonChange;
  return `${file.path}\n${diffLines(change(file.text, edit.text, host.servers))}`;
}

function report(plan: Plan, session: Session, written: boolean, backup?: string): void {
  const { host, file: { path }, entry, edit } = plan;
  const { command, args } = entry;
  const { changed } = edit;
  const answer = { host: session.line.words, path, changed, written, backup, command, args };
  const copy = backup === undefined ? "" : `The old file is ${backup}.\n`;
  const done = written ? `Written to ${path}.\n${copy}${host.afterwards}\n` : "";
  print(session, answer, changed ? done : `Nothing to do: ${path} has it already.\n`);
}

/** Warns about hosts that are perhaps not there, and about programs that may not stay. */
async function note({ host, file, entry }: Plan, { io }: Session): Promise<void> {
  if ([entry.command, ...entry.args].some((part) => /[\\/]_npx[\\/]/.test(part))) {
    io.writeError("Note: what is running is in the cache of npx, which may be cleared.\n");
  }
  const folder = dirname(file.path);
  if (file.mode !== undefined || await stat(folder).then(() => true, () => false)) return;
  io.writeError(`Note: ${folder} does not exist yet. Is ${host.title} installed?\n`);
}

/** Asks on standard error and reads one line; the end of the input is a no. */
async function confirm(question: string, io: CliIo): Promise<boolean> {
  io.writeError(question);
  const decoder = new TextDecoder();
  let answer = "";
  const reader = io.stdin?.getReader();
  while (reader !== undefined && !answer.includes("\n") && answer.length < ANSWER_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    answer += decoder.decode(value, { stream: true });
  }
  reader?.releaseLock();
  return /^\s*y(es)?\s*$/i.test(answer.split("\n")[0] ?? "");
}

/** Shows what changes, asks, writes. */
export async function install(session: Session): Promise<void> {
  const { line, io } = session;
  try {
    if (line.print) return await show(session);
    const plan = await planOf(session);
    const { file, edit } = plan;
    if (!edit.changed) return report(plan, session, false);
    await note(plan, session);
    const write = line.json ? io.writeError : io.write;
    write.call(io, shownDiff(plan));
    if (!line.yes && !await confirm("Write this? [y/N] ", io)) {
      throw new CommandError(EXIT.error, "Nothing was written.");
    }
    const backup = await replaceConfig(file, edit.text, new Date());
    report(plan, session, true, backup);
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(EXIT.error, error.message);
    throw error;
  }
}

/** Shows what would change; a file that cannot be changed gets the bare entry. */
async function show(session: Session): Promise<void> {
  const { line, io } = session;
  try {
    const plan = await planOf(session);
    if (plan.edit.changed && !line.json) io.write(shownDiff(plan));
    report(plan, session, false);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.writeError(`${printable(error.message)}\n`);
    const host = hostOf(line.words);
    const entry = entryOf(host, session);
    print(session, { [SERVER_NAME]: entry }, edit(host, "", entry).text);
  }
}

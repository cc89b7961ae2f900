import { type SvcClient, SvcError } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { isUuid } from "../../src/wire/keys.ts";
import { CommandError, EXIT, programOf } from "../io.ts";
import type { Session } from "../session.ts";
import { namespaceOf } from "./namespaces.ts";

/** The first characters of an id, as lists show it. */
const BEGINNING = /^[0-9a-f]{8}[0-9a-f-]{0,27}$/i;

/** Most ids that are named where several fit. */
const NAMED_IDS = 4;

/** Whether a word is an id of a memory, or the beginning of one. */
export function isId(word: string): boolean {
  return isUuid(word) || BEGINNING.test(word);
}

/**
 * The whole id for an id or the first 8 or more characters of one, which is looked for in the
 * namespace of the command.
 *
 * @throws {CommandError} with the usage exit code, when it is no id, or several begin so.
 * @throws {SvcError} `memory_not_found`, when none begins so.
 */
export async function wholeId(session: Session, client: SvcClient, word: string): Promise<string> {
  const id = word.toLowerCase();
  if (isUuid(id)) return id;
  const shown = onOneLine(word);
  if (!BEGINNING.test(id)) {
    const message = `"${shown}" is no id of a memory: write the id that ` +
      `${programOf(session.io)} list shows, or its first 8 characters.`;
    throw new CommandError(EXIT.usage, message);
  }
  const namespace = namespaceOf(session);
  const fitting: string[] = [];
  for await (const memory of client.allMemories({ namespace, text: false, limit: 200 })) {
    if (memory.memory_id.startsWith(id)) fitting.push(memory.memory_id);
  }
  if (fitting.length === 1) return fitting[0]!;
  const place = `in "${onOneLine(namespace)}"`;
  if (fitting.length === 0) {
    const message = `No memory ${place} has an id that begins with ${shown}. ` +
      `Name its namespace with --namespace, or see: ${programOf(session.io)} list`;
    throw new SvcError("memory_not_found", message);
  }
  const more = fitting.length > NAMED_IDS ? ", …" : "";
  const ids = fitting.slice(0, NAMED_IDS).map(onOneLine).join(", ") + more;
  const message = `${fitting.length} memories ${place} begin with ${shown}: ${ids}`;
  throw new CommandError(EXIT.usage, message);
}

/** The only word of a command, an id. @throws {CommandError} with the usage exit code. */
export function onlyWord({ line }: Session): string {
  if (line.args.length === 1) return line.args[0]!;
  throw new CommandError(EXIT.usage, `${line.command} takes one id.`);
}

/** A call about a memory; one that is not there is named, with where to look. */
export async function about<T>({ io }: Session, id: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "memory_not_found") throw error;
    const message = `You have no memory with the id ${id}. ` +
      `Those of a namespace: ${programOf(io)} list`;
    throw new SvcError("memory_not_found", message);
  }
}

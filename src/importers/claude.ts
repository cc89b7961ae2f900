import { type Findings, whyNot } from "./findings.ts";
import type { FoundTurn } from "./importer.ts";
import { isObject, type JsonObject, listOf, memberOf, stepTo, textOf } from "./json_members.ts";
import { readBlocks } from "./markdown_blocks.ts";
import { timeOf } from "./times.ts";

/** Whether a value is a conversation as Claude exports it. */
export function isClaudeConversation(value: unknown): boolean {
  return Array.isArray(memberOf(value, "chat_messages"));
}

/** Whether a value is what Claude remembers of an account. */
export function isClaudeMemories(value: unknown): boolean {
  return typeof memberOf(value, "conversations_memory") === "string" ||
    isObject(memberOf(value, "project_memories"));
}

/** What a message says, and whether something that is no text was left out. */
function saidIn(message: JsonObject): { readonly text: unknown; readonly isPart: boolean } {
  const blocks = listOf(message, "content") ?? [];
  const said = blocks.filter((block) => memberOf(block, "type") === "text")
    .map((block) => textOf(block, "text")).filter((text) => text !== undefined);
  const files = [...listOf(message, "attachments") ?? [], ...listOf(message, "files") ?? []];
  const isPart = said.length < blocks.length || files.length > 0;
  // The older member writes a remark in place of each block that is no text.
  return { text: said.length > 0 ? said.join("\n") : memberOf(message, "text"), isPart };
}

function turnOf(found: Findings, message: unknown, where: string): FoundTurn | undefined {
  const sender = memberOf(message, "sender");
  const isHuman = sender === "human" || sender === "user";
  if (!isObject(message) || (!isHuman && sender !== "assistant")) {
    found.skip(where, sender === "system" ? "system_message" : "unknown_shape");
    return undefined;
  }
  const { text, isPart } = saidIn(message);
  const wrong = whyNot(text);
  if (wrong !== undefined || typeof text !== "string") {
    found.skip(where, isPart && wrong === "empty" ? "no_text" : wrong ?? "not_text");
    return undefined;
  }
  if (isPart) found.note(where, "parts_left");
  const at = timeOf(memberOf(message, "created_at"));
  return { speaker: isHuman ? "user" : "assistant", text, ...(at === undefined ? {} : { at }) };
}

function readConversation(found: Findings, conversation: unknown, where: string): void {
  const messages = listOf(conversation, "chat_messages");
  if (messages === undefined || messages.length === 0) {
    found.expect(1);
    return found.skip(where, messages === undefined ? "unknown_shape" : "no_text");
  }
  found.expect(messages.length);
  const turns = messages.map((message, at) =>
    turnOf(found, message, `${where}.chat_messages[${at}]`)
  )
    .filter((turn) => turn !== undefined);
  found.conversation(turns, memberOf(conversation, "name"), memberOf(conversation, "created_at"));
}

/** Reads a text that Claude wrote down, which has headings in bold type. */
function readText(
  found: Findings,
  text: unknown,
  where: string,
  metadata: readonly (readonly [string, unknown])[],
): void {
  if (typeof text !== "string" || text.trim() === "") {
    found.expect(1);
    return found.skip(where, text === "" || typeof text === "string" ? "empty" : "not_text");
  }
  readBlocks(found, text, { where: `${where} `, metadata, boldHeadings: true });
}

function readMemories(found: Findings, item: JsonObject, where: string): void {
  const text = memberOf(item, "conversations_memory");
  // An account that has none has null there, or nothing.
  if (text !== undefined && text !== null) {
    readText(found, text, `${where}.conversations_memory`, []);
  }
  const projects = memberOf(item, "project_memories");
  if (isObject(projects)) {
    Object.keys(projects).forEach((key, at) => {
      const place = `${where}.project_memories${stepTo(key, at)}`;
      readText(found, projects[key], place, [["project", key]]);
    });
  } else if (projects !== undefined && projects !== null) {
    found.expect(1);
    found.skip(`${where}.project_memories`, "unknown_shape");
  }
  listOf(item, "memory_files")?.forEach((file, at) => {
    const name = textOf(file, "path") ?? textOf(file, "name");
    const place = `${where}.memory_files[${at}]`;
    readText(found, memberOf(file, "content") ?? memberOf(file, "text"), place, [["file", name]]);
  });
}

/**
 * Reads conversations and memories of Claude: an entry is a message of a conversation, or a
 * paragraph or bullet of what Claude remembers.
 *
 * @returns Whether the file has either.
 */
export function readClaude(found: Findings, root: unknown): boolean {
  const list = Array.isArray(root)
    ? root
    : isClaudeConversation(root) || isClaudeMemories(root)
    ? [root]
    : listOf(root, "conversations");
  if (list === undefined) return false;
  const prefix = Array.isArray(root) || list[0] === root ? "" : "conversations";
  list.forEach((item: unknown, at) => {
    const where = `${prefix}[${at}]`;
    if (isObject(item) && isClaudeMemories(item)) readMemories(found, item, where);
    else readConversation(found, item, where);
  });
  return true;
}

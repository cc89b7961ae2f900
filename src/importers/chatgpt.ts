import { type Findings, whyNot } from "./findings.ts";
import type { FoundTurn, SkipReason } from "./importer.ts";
import { isObject, type JsonObject, listOf, memberOf, stepTo, textOf } from "./json_members.ts";
import { timeOf } from "./times.ts";

/** Kinds of content that are said; others are thoughts, settings and traces of tools. */
const SAID = new Set(["text", "multimodal_text", "code"]);

/** Whether a value is a conversation as ChatGPT exports it. */
export function isChatGptConversation(value: unknown): boolean {
  return isObject(memberOf(value, "mapping"));
}

interface Said {
  readonly text: string;
  /** Whether something that is no text was left out. */
  readonly isPart: boolean;
}

function partText(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  // What was spoken, written down.
  return memberOf(part, "content_type") === "audio_transcription"
    ? textOf(part, "text")
    : undefined;
}

/** What a message says; `undefined` when its content has no form that is known. */
function saidIn(message: JsonObject): Said | undefined {
  const content = memberOf(message, "content");
  const parts = listOf(content, "parts");
  if (parts === undefined) {
    const text = textOf(content, "text");
    return text === undefined ? undefined : { text, isPart: false };
  }
  const texts = parts.map(partText);
  const said = texts.filter((text) => text !== undefined);
  return { text: said.join("\n"), isPart: said.length < texts.length };
}

/** Why a message is no turn, apart from its text. */
function whyNoTurn(message: JsonObject): SkipReason | undefined {
  const role = memberOf(memberOf(message, "author"), "role");
  if (role === "system") return "system_message";
  if (role === "tool") return "tool_message";
  if (role !== "user" && role !== "assistant") return "unknown_shape";
  const isHidden = memberOf(memberOf(message, "metadata"), "is_visually_hidden_from_conversation");
  if (isHidden === true) return "hidden_message";
  const recipient = memberOf(message, "recipient") ?? "all";
  if (role === "assistant" && recipient !== "all") return "tool_message";
  const kind = memberOf(memberOf(message, "content"), "content_type") ?? "text";
  return SAID.has(String(kind)) ? undefined : "hidden_message";
}

function turnOf(found: Findings, message: unknown, where: string): FoundTurn | undefined {
  const reason = isObject(message) ? whyNoTurn(message) : "unknown_shape";
  if (reason !== undefined || !isObject(message)) {
    found.skip(where, reason ?? "unknown_shape");
    return undefined;
  }
  const said = saidIn(message);
  const wrong = said === undefined ? "unknown_shape" : whyNot(said.text);
  if (wrong !== undefined || said === undefined) {
    // A picture alone has nothing that could be kept.
    found.skip(where, said?.isPart && wrong === "empty" ? "no_text" : wrong ?? "unknown_shape");
    return undefined;
  }
  if (said.isPart) found.note(where, "parts_left");
  const role = memberOf(memberOf(message, "author"), "role");
  const at = timeOf(memberOf(message, "create_time"));
  return {
    speaker: role === "user" ? "user" : "assistant",
    text: said.text,
    ...(at === undefined ? {} : { at }),
  };
}

/** Where the conversation ends: the node that is current, or the last with a message. */
function endOf(conversation: unknown, mapping: JsonObject): string | undefined {
  const current = textOf(conversation, "current_node");
  if (current !== undefined && Object.hasOwn(mapping, current)) return current;
  return Object.keys(mapping).findLast((key) => isObject(memberOf(mapping[key], "message")));
}

/** Ids of the nodes from the first to the end; and whether the links were whole. */
function chainOf(
  conversation: unknown,
  mapping: JsonObject,
): { readonly chain: readonly string[]; readonly isWhole: boolean } {
  const reached = new Set<string>();
  const end = endOf(conversation, mapping);
  let isWhole = end !== undefined && end === memberOf(conversation, "current_node");
  for (let key = end; key !== undefined;) {
    reached.add(key);
    const parent = memberOf(mapping[key], "parent") ?? undefined;
    const isKnown = typeof parent === "string" && Object.hasOwn(mapping, parent) &&
      !reached.has(parent);
    if (parent !== undefined && !isKnown) isWhole = false;
    key = isKnown ? parent : undefined;
  }
  return { chain: [...reached].reverse(), isWhole };
}

/** Reads a conversation; an entry is a node with a message, or one that is no node. */
function readConversation(found: Findings, conversation: unknown, where: string): void {
  const mapping = memberOf(conversation, "mapping");
  if (!isObject(mapping)) {
    found.expect(1);
    return found.skip(where, "unknown_shape");
  }
  const keys = Object.keys(mapping);
  const places = new Map(keys.map((key, at) => [key, `${where}.mapping${stepTo(key, at)}`]));
  // The root of a tree has no message; it is no entry.
  const entries = new Set(keys.filter((key) => {
    const node = mapping[key];
    return !isObject(node) || (memberOf(node, "message") ?? null) !== null;
  }));
  if (entries.size === 0) {
    found.expect(1);
    return found.skip(where, "no_text");
  }
  found.expect(entries.size);
  const { chain, isWhole } = chainOf(conversation, mapping);
  if (!isWhole) found.note(where, "chain_broken");
  const turns: FoundTurn[] = [];
  for (const key of chain) {
    if (!entries.delete(key)) continue;
    const turn = turnOf(found, memberOf(mapping[key], "message"), places.get(key) ?? where);
    if (turn !== undefined) turns.push(turn);
  }
  for (const key of entries) {
    found.skip(
      places.get(key) ?? where,
      isObject(mapping[key]) ? "hidden_branch" : "unknown_shape",
    );
  }
  found.conversation(turns, memberOf(conversation, "title"), memberOf(conversation, "create_time"));
}

function readMemory(found: Findings, item: unknown, where: string): void {
  found.expect(1);
  if (typeof item !== "string" && !isObject(item)) return found.skip(where, "unknown_shape");
  const member = (...names: readonly string[]): unknown =>
    names.map((name) => memberOf(item, name)).find((value) => value !== undefined);
  if (member("status") === "deleted") return found.skip(where, "deleted");
  found.memory(where, {
    text: typeof item === "string" ? item : member("content", "memory", "text"),
    occurred: member(
      "created_at",
      "created_timestamp",
      "create_time",
      "timestamp",
      "updated_at",
      "last_updated",
    ),
  });
}

/**
 * Reads conversations and saved memories of ChatGPT: an entry is a message of a conversation, in
 * whatever branch, or a saved memory.
 *
 * @returns Whether the file has a list of either.
 */
export function readChatGpt(found: Findings, root: unknown): boolean {
  const isAlone = isChatGptConversation(root);
  const named = listOf(root, "memories");
  const list = Array.isArray(root) ? root : isAlone ? [root] : named;
  if (list === undefined) return false;
  list.forEach((item: unknown, at) => {
    const where = `${list === named ? "memories" : ""}[${at}]`;
    const isConversation = memberOf(item, "mapping") !== undefined;
    if (isConversation) readConversation(found, item, where);
    else readMemory(found, item, where);
  });
  return true;
}

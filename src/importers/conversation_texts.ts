import { ANALYZE_TEXT_BYTES } from "../wire/limits.ts";
import type { FoundConversation, FoundTurn } from "./importer.ts";

/** A part of a conversation that fits into one call of analyze. */
export interface ConversationText {
  /** Lines of `User: …` and `Assistant: …`, at most 64 KiB of UTF-8. */
  readonly text: string;
  /**
   * Whether it starts inside of a turn, whose name is then written again: without it, the text
   * follows the one before directly, and otherwise after a line feed.
   */
  readonly continues: boolean;
  /** When its first turn was said, or the conversation began: RFC 3339, in UTC. */
  readonly at?: string;
}

const utf8 = new TextEncoder();

/** Units that are read back for a good place to cut: enough for a long sentence. */
const LOOK_BACK = 4096;

/** What a turn starts with in a text for analyze. */
export function labelOf(speaker: FoundTurn["speaker"]): string {
  return speaker === "user" ? "User: " : "Assistant: ";
}

/** Bytes of UTF-8 that the code point at this place takes; a lone surrogate is replaced by three. */
function bytesAt(text: string, at: number): number {
  const point = text.codePointAt(at) ?? 0;
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

/** How far a text of at most so many bytes reaches from a place, in whole code points. */
function reachOf(text: string, start: number, bytes: number): number {
  let at = start;
  for (let left = bytes; at < text.length;) {
    const size = bytesAt(text, at);
    if (size > left) break;
    left -= size;
    at += size === 4 ? 2 : 1;
  }
  return at;
}

/** The best place to cut between two: after a sentence or a line, else after a space. */
function cutBetween(text: string, start: number, end: number): number {
  const from = Math.max(start, end - LOOK_BACK);
  let space = 0;
  for (let at = end; at > from; at--) {
    const before = text[at - 1] ?? "";
    if (before === "\n" || "。！？".includes(before)) return at;
    if (!/\s/.test(before)) continue;
    if (/[.!?]/.test(text[at - 2] ?? "")) return at;
    space ||= at;
  }
  return space || end;
}

/** Parts of a turn's text of at most so many bytes, which together are the text. */
function partsOf(text: string, bytes: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const reach = reachOf(text, start, bytes);
    const end = reach === text.length ? reach : cutBetween(text, start, reach);
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/**
 * Cuts a conversation into texts for analyze, of at most 64 KiB each: between turns, and a longer
 * turn at the end of a sentence or at a space, never inside of a code point. Nothing is left out.
 */
export function textsForAnalyze(conversation: FoundConversation): readonly ConversationText[] {
  const texts: ConversationText[] = [];
  let lines: string[] = [];
  let bytes = 0;
  let continues = false;
  let at: string | undefined;
  const end = (): void => {
    if (lines.length === 0) return;
    texts.push({ text: lines.join("\n"), continues, ...(at === undefined ? {} : { at }) });
    lines = [];
  };
  const add = (line: string, size: number, isRest: boolean, turn: FoundTurn): void => {
    if (isRest || bytes + 1 + size > ANALYZE_TEXT_BYTES) end();
    if (lines.length === 0) {
      bytes = -1;
      continues = isRest;
      at = turn.at ?? conversation.startedAt;
    }
    lines.push(line);
    bytes += 1 + size;
  };
  for (const turn of conversation.turns) {
    const label = labelOf(turn.speaker);
    const whole = label + turn.text;
    const size = utf8.encode(whole).length;
    if (size <= ANALYZE_TEXT_BYTES) {
      add(whole, size, false, turn);
      continue;
    }
    partsOf(turn.text, ANALYZE_TEXT_BYTES - label.length).forEach((part, index) => {
      add(label + part, label.length + utf8.encode(part).length, index > 0, turn);
    });
  }
  end();
  return texts;
}

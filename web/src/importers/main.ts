/**
 * Reads files of other products; a worker of its own, started only for them: large files keep the
 * page waiting for nothing.
 *
 * @module
 */
import {
  type FoundMemory,
  type ImportReport,
  NOTES,
  readMemories,
  SKIP_REASONS,
  textsForAnalyze,
} from "../../../src/importers/mod.ts";
import type { FoundInFile, Group, ReadAnswer, ReadRequest } from "./answer.ts";

/** Places that are named of each group. */
const PLACES = 5;

function groupsOf(
  items: readonly { readonly where: string; readonly words: string }[],
): Group[] {
  const groups = new Map<string, { words: string; count: number; places: string[] }>();
  for (const { where, words } of items) {
    const group = groups.get(words) ?? { words, count: 0, places: [] };
    groups.set(words, group);
    if (++group.count <= PLACES) group.places.push(where);
  }
  return [...groups.values()];
}

/** A memory as a line of an import. */
function lineOf(memory: FoundMemory): Record<string, unknown> {
  const { text, metadata, occurredAt, expiresAt, importance, namespace } = memory;
  return {
    text,
    metadata,
    occurred_at: occurredAt,
    expires_at: expiresAt,
    importance,
    namespace,
  };
}

function foundIn(report: ImportReport): FoundInFile {
  const { format, entries, memories, conversations, skipped, notes } = report;
  return {
    format,
    entries,
    memories: memories.map(lineOf),
    conversations: conversations.map((conversation) => ({
      title: conversation.title,
      texts: textsForAnalyze(conversation),
    })),
    turns: conversations.reduce((sum, { turns }) => sum + turns.length, 0),
    skipped: groupsOf(skipped.map(({ where, reason }) => ({ where, words: SKIP_REASONS[reason] }))),
    notes: groupsOf(notes.map(({ where, kind }) => ({ where, words: NOTES[kind] }))),
  };
}

function answer({ file, format }: ReadRequest): ReadAnswer {
  try {
    const [report] = readMemories([file], format);
    return { found: foundIn(report!) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : "It cannot be read" };
  }
}

addEventListener("message", ({ data }: MessageEvent<ReadRequest>) => postMessage(answer(data)));

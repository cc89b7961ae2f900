import { deepStrictEqual, ok } from "node:assert/strict";
import { TEXT_BYTES } from "../../src/wire/limits.ts";
import {
  type FormatName,
  type ImportReport,
  NOTES,
  readMemories,
  SKIP_REASONS,
} from "../../src/importers/mod.ts";

/** Checks what holds for every report, and gives it back. */
export function sound(report: ImportReport): ImportReport {
  const turns = report.conversations.flatMap((conversation) => conversation.turns);
  deepStrictEqual(report.taken, report.memories.length + turns.length);
  deepStrictEqual(report.entries, report.taken + report.skipped.length);
  for (const { text } of [...report.memories, ...turns]) {
    ok(text.isWellFormed() && text.trim() !== "");
    ok(new TextEncoder().encode(text).length <= TEXT_BYTES);
  }
  for (const { metadata = {} } of report.memories) {
    ok(new TextEncoder().encode(JSON.stringify(metadata)).length <= 4096);
    for (const value of Object.values(metadata)) ok(value === null || typeof value !== "object");
  }
  for (const { reason } of report.skipped) ok(Object.hasOwn(SKIP_REASONS, reason));
  for (const { kind } of report.notes) ok(Object.hasOwn(NOTES, kind));
  return report;
}

/** What is found in one file. */
export function reportOf(path: string, content: string, format?: FormatName): ImportReport {
  const [report] = readMemories([{ path, content }], format);
  ok(report !== undefined);
  return sound(report);
}

/** As {@linkcode reportOf}, of a value as JSON. */
export function reportOfJson(path: string, value: unknown, format?: FormatName): ImportReport {
  return reportOf(path, JSON.stringify(value), format);
}

/** Texts of what is found. */
export const textsOf = ({ memories }: ImportReport): string[] => memories.map(({ text }) => text);

/** Skipped entries as `where reason`. */
export const skippedOf = ({ skipped }: ImportReport): string[] =>
  skipped.map(({ where, reason }) => `${where} ${reason}`);

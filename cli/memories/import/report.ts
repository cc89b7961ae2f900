import {
  type FormatName,
  type Note,
  NOTES,
  SKIP_REASONS,
  type Skipped,
} from "../../../src/importers/mod.ts";
import type { BundleStatement } from "../../../src/wire/signing/bundles.ts";
import { onOneLine } from "../../../src/printable.ts";
import { counted, fitted, type Paint } from "../../output.ts";
import { shownNamespace } from "../namespaces.ts";
import type { Counts, Failure } from "./sending.ts";

/** Places that are named for one reason. */
const NAMED_PLACES = 10;
/** Refused memories that are named. */
const NAMED_FAILURES = 10;
/** Columns of a text in a preview. */
const SAMPLE_COLUMNS = 72;

/** What was found in a file. */
export interface FileReport {
  /** As the user wrote it, on one line. */
  readonly path: string;
  readonly format: FormatName;
  readonly memories: number;
  /** Of an export, earlier versions of them. */
  readonly versions?: number;
  readonly conversations: number;
  /** Texts into which the conversations are cut to be analyzed. */
  readonly texts: number;
  readonly skipped: readonly Skipped[];
  readonly notes: readonly Note[];
  /** Of an export, how many memories each namespace has; the empty name: none is named. */
  readonly namespaces?: Readonly<Record<string, number>>;
  /** Of an export, whether its last line is missing. */
  readonly isCut?: boolean;
  /** Of a bundle, what its signature says. */
  readonly signed?: BundleStatement;
  /** The first texts, for a preview. */
  readonly samples: readonly string[];
}

/** A file of which nothing was taken, and why. */
export interface Problem {
  readonly path: string;
  readonly error: string;
}

const memories = (count: number): string => counted(count, "memory", "memories");

/** Places by what is said about them, a line for each; long lists are cut. */
function byReason(entries: readonly { readonly where: string; readonly reason: string }[]): string {
  const places = new Map<string, string[]>();
  for (const { where, reason } of entries) {
    const list = places.get(reason);
    if (list === undefined) places.set(reason, [where]);
    else list.push(where);
  }
  return [...places].map(([reason, list]) => {
    const named = list.slice(0, NAMED_PLACES).map(onOneLine).join(", ");
    const more = list.length > NAMED_PLACES ? `, and ${list.length - NAMED_PLACES} more` : "";
    return `  ${list.length.toLocaleString("en")}: ${onOneLine(reason)} (${named}${more})\n`;
  }).join("");
}

/** What of a file is not taken, and why. */
export function omissions({ path, skipped, notes, isCut }: FileReport): string {
  const left = skipped.map(({ where, reason }) => ({ where, reason: SKIP_REASONS[reason] }));
  const noted = notes.map(({ where, kind, members = [] }) => ({
    where: members.length === 0 ? where : `${where}: ${members.join(", ")}`,
    reason: NOTES[kind],
  }));
  const text = (left.length > 0 ? `${path}: left out:\n${byReason(left)}` : "") +
    (noted.length > 0 ? `${path}: taken with something missing:\n${byReason(noted)}` : "");
  return isCut === true
    ? `${text}${path}: the export has no last line: it is not complete.\n`
    : text;
}

/** What a file has, in one line. */
function contentsOf(report: FileReport): string {
  const { path, format, conversations, texts, versions = 0 } = report;
  const parts = [
    ...(report.memories > 0 || conversations === 0 ? [memories(report.memories)] : []),
    ...(versions > 0 ? [counted(versions, "earlier version")] : []),
    ...(conversations > 0
      ? [`${counted(conversations, "conversation")} in ${counted(texts, "text")} to analyze`]
      : []),
  ];
  return `${path} (${format}): ${parts.join(", ")}\n`;
}

/** What would be taken of a file, and what not. */
export function previewOf(report: FileReport, paint: Paint): string {
  const places = Object.entries(report.namespaces ?? {}).map(([name, count]) =>
    paint.dim(`  ${name === "" ? "no namespace" : shownNamespace(name)}: ${memories(count)}`) + "\n"
  );
  const texts = report.samples.map((text) =>
    paint.dim(`  ${fitted(onOneLine(text), SAMPLE_COLUMNS)}`) + "\n"
  );
  const left = report.memories - texts.length;
  const more = texts.length > 0 && left > 0
    ? paint.dim(`  and ${left.toLocaleString("en")} more`) + "\n"
    : "";
  return contentsOf(report) + places.join("") + texts.join("") + more + omissions(report);
}

/** What was analyzed. */
export interface Analyzed {
  texts: number;
  facts: number;
}

/** What became of everything, a line each. */
export function outcomeOf(counts: Counts, { texts, facts }: Analyzed): string {
  const { sent, accepted, versions, exists, older, deleted, expired, history } = counts;
  const one = (count: number, singular: string, plural: string): string[] =>
    count === 0 ? [] : [`  ${count.toLocaleString("en")} ${count === 1 ? singular : plural}\n`];
  const earlier = versions > 0 ? ` and ${counted(versions, "earlier version")}` : "";
  const took = sent > 0 || texts === 0 ? [`Took ${memories(accepted)}${earlier}.\n`] : [];
  return [
    ...took,
    ...one(exists, "is there already", "are there already"),
    ...one(older, "is older than what is there", "are older than what is there"),
    ...one(
      deleted,
      "was deleted earlier: --bring-back takes it all the same",
      "were deleted earlier: --bring-back takes them all the same",
    ),
    ...one(expired, "has expired", "have expired"),
    ...one(
      history,
      "earlier version was left out: it is there, or too late to be added",
      "earlier versions were left out: they are there, or too late to be added",
    ),
    ...(texts > 0
      ? [`Analyzed ${counted(texts, "text")} and saved ${counted(facts, "fact")}.\n`]
      : []),
  ].join("");
}

/** The memories that were refused, the first by name. */
export function failuresOf(failed: number, failures: readonly Failure[]): string {
  if (failed === 0) return "";
  const named = failures.slice(0, NAMED_FAILURES)
    .map(({ file, where, error }) => `  ${file} ${onOneLine(where)}: ${error}\n`);
  const more = failed > named.length
    ? `  and ${(failed - named.length).toLocaleString("en")} more\n`
    : "";
  return `${counted(failed, "memory", "memories")} could not be taken:\n${named.join("")}${more}`;
}

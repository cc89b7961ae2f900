import type { ConversationText, FormatName, SourceFile } from "../../../src/importers/mod.ts";

/** What the page asks of the importers. */
export interface ReadRequest {
  readonly file: SourceFile;
  /** What the file is; by itself when absent. */
  readonly format?: FormatName;
}

/** Entries that are alike. */
export interface Group {
  /** Why they were not taken, or what was left out. */
  readonly words: string;
  readonly count: number;
  /** Where the first ones are. */
  readonly places: readonly string[];
}

/** A conversation, in parts that the relayer can analyze. */
export interface Conversation {
  readonly title: string | undefined;
  readonly texts: readonly ConversationText[];
}

/** What was found in a file. */
export interface FoundInFile {
  readonly format: FormatName;
  readonly entries: number;
  /** In the form of an import's lines. */
  readonly memories: readonly Readonly<Record<string, unknown>>[];
  readonly conversations: readonly Conversation[];
  /** Messages of the conversations. */
  readonly turns: number;
  readonly skipped: readonly Group[];
  readonly notes: readonly Group[];
}

/** What the importers answer: what they found, or why they found nothing. */
export type ReadAnswer =
  | { readonly found: FoundInFile }
  | { readonly error: string };

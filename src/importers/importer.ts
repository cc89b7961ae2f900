/** Flat data that may accompany a memory. */
export type FlatMetadata = Readonly<Record<string, string | number | boolean | null>>;

/** Where a file comes from; `svc` is an export of this product, which is recognised only. */
export const FORMAT_NAMES = [
  "mem0",
  "mcp-memory",
  "chatgpt",
  "claude",
  "claude-code",
  "basic-memory",
  "markdown",
  "svc-markdown",
  "svc",
] as const;

/** Name of a format, as `--from` takes it. */
export type FormatName = (typeof FORMAT_NAMES)[number];

/** A file to read. */
export interface SourceFile {
  /** Its path or name, with either kind of slash. */
  readonly path: string;
  /** The whole text, decoded from UTF-8; a byte order mark at its start does not count. */
  readonly content: string;
}

/** A memory of another product: well-formed, not blank, at most 1 MiB of UTF-8. */
export interface FoundMemory {
  /** What is to be remembered. */
  readonly text: string;
  /** At most 4096 bytes of JSON. */
  readonly metadata?: FlatMetadata;
  /** When it was said or noted: RFC 3339, in UTC, with milliseconds. */
  readonly occurredAt?: string;
  /** When it ends, in the same form; may have passed. */
  readonly expiresAt?: string;
  /** From 0 to 1. */
  readonly importance?: number;
  /** Only where the file names one of this product's. */
  readonly namespace?: string;
}

/** What one side said: well-formed, not blank, at most 1 MiB of UTF-8. */
export interface FoundTurn {
  /** Whose turn it is. */
  readonly speaker: "user" | "assistant";
  /** All that was said. */
  readonly text: string;
  /** When: RFC 3339, in UTC, with milliseconds. */
  readonly at?: string;
}

/** A conversation with at least one turn, in the order in which it was held. */
export interface FoundConversation {
  /** What the product calls it. */
  readonly title?: string;
  /** When it began: RFC 3339, in UTC, with milliseconds. */
  readonly startedAt?: string;
  /** What was said, in order. */
  readonly turns: readonly FoundTurn[];
}

/**
 * Why an entry was not taken, in words for people. Codes are stable; texts are not.
 */
export const SKIP_REASONS = {
  empty: "it is empty",
  no_text: "it has no text of its own",
  not_text: "a text was expected and something else is there",
  not_json: "the line is not JSON",
  too_long: "it is longer than 1 MiB",
  not_unicode: "it is not well-formed Unicode",
  unknown_shape: "it has a form that is not known",
  duplicate: "the same is in this file before",
  deleted: "it was deleted where it comes from",
  system_message: "it is a message of the system, not of a person or an assistant",
  tool_message: "it is a call of a tool, or a tool's answer",
  hidden_message: "the product does not show it in the conversation",
  hidden_branch:
    "it belongs to a version of the conversation that was replaced or cannot be reached",
  comment: "it is a comment",
  index_line: "it only points to another file",
} as const;

/** Stable code of a reason for which an entry was not taken. */
export type SkipReason = keyof typeof SKIP_REASONS;

/** An entry that was not taken. */
export interface Skipped {
  /** `line 3`, `[4].mapping.b1`, `results[2]`: never a word of the entry's text. */
  readonly where: string;
  /** Why; {@linkcode SKIP_REASONS} has the words. */
  readonly reason: SkipReason;
}

/** What was left out of something that was taken, in words for people. */
export const NOTES = {
  metadata_dropped: "members of its metadata were left out: not flat, or beyond 4 KiB",
  time_unreadable: "a time in it cannot be read",
  parts_left: "pictures, files, thoughts or calls of tools in it were left out",
  front_matter_text: "members of its front matter are not plain values and were kept as text",
  chain_broken: "the order of its messages is damaged; what can be reached from the end was taken",
} as const;

/** Stable code of a note. */
export type NoteKind = keyof typeof NOTES;

/** Says that something was left out of an entry that was taken; notes do not count as entries. */
export interface Note {
  /** As in {@linkcode Skipped}. */
  readonly where: string;
  /** What; {@linkcode NOTES} has the words. */
  readonly kind: NoteKind;
  /** Names of the members that it is about, at most 20, cut at 64 characters. */
  readonly members?: readonly string[];
}

/** What was found in one file. */
export interface ImportReport {
  /** Path of the file, as given. */
  readonly path: string;
  /** What the file was read as. */
  readonly format: FormatName;
  /** In the order of the file. */
  readonly memories: readonly FoundMemory[];
  /** In the order of the file, each with at least one turn. */
  readonly conversations: readonly FoundConversation[];
  /** How many units of the format the file has, counted by themselves. */
  readonly entries: number;
  /** Memories and turns together; `entries` is this and the number of those skipped. */
  readonly taken: number;
  /** What was not taken. */
  readonly skipped: readonly Skipped[];
  /** What was left out of what was taken, or not understood about it. */
  readonly notes: readonly Note[];
}

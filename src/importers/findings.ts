import { METADATA_BYTES, TEXT_BYTES } from "../wire/limits.ts";
import type {
  FlatMetadata,
  FormatName,
  FoundConversation,
  FoundMemory,
  FoundTurn,
  ImportReport,
  Note,
  NoteKind,
  Skipped,
  SkipReason,
} from "./importer.ts";
import { timeOf } from "./times.ts";

const utf8 = new TextEncoder();

/** Most members that a note names, and most characters of each name. */
const NAMED_MEMBERS = 20;
const NAME_CHARACTERS = 64;

/** What is read of an entry, before it is judged. */
export interface Candidate {
  /** Whatever stands where the text should. */
  readonly text: unknown;
  /** Members of any kind, later ones over earlier ones; those that do not fit are noted. */
  readonly metadata?: Iterable<readonly [name: string, value: unknown]>;
  /** A time in any form that is known. */
  readonly occurred?: unknown;
  readonly expires?: unknown;
  readonly importance?: unknown;
  readonly namespace?: string;
  /** What the same entry would have in common with it; the text when absent. */
  readonly identity?: string;
}

/** Length in UTF-8, counting a lone surrogate as what it is replaced by. */
export function byteLength(text: string): number {
  return utf8.encode(text).length;
}

/** Why a text cannot be kept, if so. */
export function whyNot(text: unknown): SkipReason | undefined {
  if (text === undefined || text === null) return "no_text";
  if (typeof text !== "string") return "not_text";
  if (text.trim() === "") return "empty";
  if (text.length > TEXT_BYTES) return "too_long";
  if (!text.isWellFormed()) return "not_unicode";
  // A UTF-16 unit takes at most 3 bytes: most texts need no encoding to be judged.
  if (text.length * 3 > TEXT_BYTES && byteLength(text) > TEXT_BYTES) return "too_long";
  return undefined;
}

/** A name for a report: one line, short, and without what a terminal would obey. */
function shownName(name: string): string {
  return name.slice(0, NAME_CHARACTERS).toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}

function isFlat(value: unknown): value is FlatMetadata[string] {
  return value === null || typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value)) ||
    (typeof value === "string" && value.isWellFormed());
}

/** Collects what is found in one file, and judges it. */
export class Findings {
  readonly #format: FormatName;
  readonly #path: string;
  readonly #memories: FoundMemory[] = [];
  readonly #conversations: FoundConversation[] = [];
  readonly #skipped: Skipped[] = [];
  readonly #notes: Note[] = [];
  readonly #seen = new Set<string>();
  #entries = 0;
  #turns = 0;

  /** Nothing yet, of the file at this path. */
  constructor(format: FormatName, path: string) {
    this.#format = format;
    this.#path = path;
  }

  /** Counts units of the format, each of which is to be taken or skipped. */
  expect(entries: number): void {
    this.#entries += entries;
  }

  /** Says that a unit is not taken. */
  skip(where: string, reason: SkipReason): void {
    this.#skipped.push({ where, reason });
  }

  /** Says that something was left out of a unit that is taken. */
  note(where: string, kind: NoteKind, members?: readonly string[]): void {
    if (members?.length === 0) return;
    const names = members?.slice(0, NAMED_MEMBERS).map(shownName);
    this.#notes.push({ where, kind, ...(names === undefined ? {} : { members: names }) });
  }

  /** Takes a memory, or skips it when its text cannot be kept or was there before. */
  memory(where: string, candidate: Candidate): void {
    const { text, namespace, importance, identity } = candidate;
    const reason = whyNot(text);
    if (reason !== undefined || typeof text !== "string") {
      return this.skip(where, reason ?? "not_text");
    }
    const key = identity ?? text;
    if (this.#seen.has(key)) return this.skip(where, "duplicate");
    this.#seen.add(key);
    const metadata = this.#metadata(where, candidate.metadata ?? []);
    const occurredAt = this.#time(where, "occurred_at", candidate.occurred);
    const expiresAt = this.#time(where, "expires_at", candidate.expires);
    const weighs = typeof importance === "number" && importance >= 0 && importance <= 1;
    this.#memories.push({
      text,
      ...(metadata === undefined ? {} : { metadata }),
      ...(occurredAt === undefined ? {} : { occurredAt }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(weighs ? { importance } : {}),
      ...(namespace === undefined ? {} : { namespace }),
    });
  }

  /** Takes a conversation whose turns were judged before; one without turns does not count. */
  conversation(turns: readonly FoundTurn[], title: unknown, started: unknown): void {
    if (turns.length === 0) return;
    const startedAt = timeOf(started) ?? turns[0]?.at;
    const name = typeof title === "string" ? title.trim() : "";
    this.#turns += turns.length;
    this.#conversations.push({
      ...(name === "" || !name.isWellFormed() ? {} : { title: name }),
      ...(startedAt === undefined ? {} : { startedAt }),
      turns,
    });
  }

  /** What was found. */
  report(): ImportReport {
    return {
      path: this.#path,
      format: this.#format,
      memories: this.#memories,
      conversations: this.#conversations,
      entries: this.#entries,
      taken: this.#memories.length + this.#turns,
      skipped: this.#skipped,
      notes: this.#notes,
    };
  }

  #time(where: string, name: string, value: unknown): string | undefined {
    if (value === undefined || value === null || value === "") return undefined;
    const time = timeOf(value);
    if (time === undefined) this.note(where, "time_unreadable", [name]);
    return time;
  }

  #metadata(
    where: string,
    members: Iterable<readonly [string, unknown]>,
  ): FlatMetadata | undefined {
    const kept = new Map<string, FlatMetadata[string]>();
    const dropped: string[] = [];
    let bytes = 2;
    for (const [name, value] of new Map(members)) {
      if (value === undefined) continue;
      // A reader that assigns it would change a prototype.
      const fits = name !== "__proto__" && name.isWellFormed() && isFlat(value) &&
        // Judged by its length first: a file may have the same long value for each of its memories.
        bytes + name.length + String(value).length <= METADATA_BYTES;
      const size = fits ? byteLength(JSON.stringify({ [name]: value })) - 1 : 0;
      if (!fits || bytes + size > METADATA_BYTES + 1) dropped.push(name);
      else {
        kept.set(name, value);
        bytes += size;
      }
    }
    this.note(where, "metadata_dropped", dropped);
    return kept.size === 0 ? undefined : Object.fromEntries(kept);
  }
}

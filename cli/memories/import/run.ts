import { Buffer } from "node:buffer";
import { SvcError } from "../../../src/client/mod.ts";
import {
  type FormatName,
  type FoundMemory,
  fromMarkdown,
  type ImportReport,
  type MarkdownMemory,
  readMemories,
  recognise,
} from "../../../src/importers/mod.ts";
import type { BundleStatement } from "../../../src/wire/signing/bundles.ts";
import { onOneLine } from "../../../src/printable.ts";
import { counted } from "../../output.ts";
import type { Session } from "../../session.ts";
import { isAsked, Questions } from "../asking.ts";
import { Analysis, textsIn } from "./conversations.ts";
import { exportedLines, isExport, type Placing } from "./export_reader.ts";
import type { ImportFile } from "./files.ts";
import { type Input, openInput } from "./input.ts";
import { type FileReport, omissions, type Problem } from "./report.ts";
import { systemReason } from "../output_file.ts";
import { Unreadable } from "../unreadable.ts";
import { isAge } from "../bundle/age_file.ts";
import { takeBundle } from "./bundles.ts";
import { Progress } from "../progress.ts";
import { Sending } from "./sending.ts";

/** Largest file that is read at once: 256 MiB. */
const WHOLE_BYTES = 268_435_456;
/** Texts of a file that a preview shows, and characters of each that are kept for it. */
const SAMPLES = 5;
const SAMPLE_CHARACTERS = 300;

/** What the command line asks for. */
export interface ImportOptions {
  /** What every file is; absent: each is recognised. */
  readonly format: FormatName | undefined;
  readonly preview: boolean;
  readonly bringBack: boolean;
  readonly secrets?: "redact";
  readonly placing: Placing;
}

async function readWhole(input: Input): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input.chunks()) {
    bytes += chunk.length;
    if (bytes > WHOLE_BYTES) {
      throw new Unreadable("it is too large to be read at once (more than 256 MiB)");
    }
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Unreadable("it is not text in UTF-8; unpack an archive first");
  }
}

/** An export, and what its signature says where it is a bundle. */
interface ExportContents {
  readonly kind: "export";
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly statement?: BundleStatement;
}

/** What a file was read as. */
type Contents =
  | ExportContents
  | { readonly kind: "markdown"; readonly memory: MarkdownMemory }
  | { readonly kind: "found"; readonly report: ImportReport };

async function contentsOf(
  { path }: ImportFile,
  input: Input,
  named: FormatName | undefined,
): Promise<Contents> {
  if (named === "svc" || named === undefined && isExport(path, input)) {
    return { kind: "export", chunks: input.chunks() };
  }
  const content = await readWhole(input);
  const format = named ?? recognise({ path, content });
  if (format === "svc") return { kind: "export", chunks: new Blob([content]).stream() };
  if (format === "svc-markdown") {
    const memory = fromMarkdown(content);
    if (memory === undefined) throw new Unreadable("it does not have the form of svc-markdown");
    if (memory.text.trim() === "") throw new Unreadable("its text is empty");
    return { kind: "markdown", memory };
  }
  const [report] = readMemories([{ path, content }], format);
  return { kind: "found", report: report! };
}

/** Why a file cannot be read, without its name; `undefined` for errors of another kind. */
function whyUnreadable(error: unknown, { path }: ImportFile): string | undefined {
  if (error instanceof Unreadable) return error.message;
  if (error instanceof SvcError) return error.message.replace(`${path}: `, "");
  const isSystem = error instanceof Error && "code" in error;
  return isSystem ? `it cannot be read (${systemReason(error)})` : undefined;
}

const lineOf = (
  { text, metadata, importance, occurredAt, expiresAt, namespace }: FoundMemory,
  placing: Placing,
): string =>
  JSON.stringify({
    type: "memory",
    namespace: placing.namespace ?? namespace ?? placing.fallback,
    text,
    metadata,
    importance,
    occurred_at: occurredAt,
    expires_at: expiresAt,
  });

/** Reads files one by one and has what is in them saved, unless it is a preview. */
export class ImportRun {
  readonly reports: FileReport[] = [];
  readonly problems: Problem[] = [];
  readonly progress: Progress;
  readonly sending: Sending;
  readonly analysis: Analysis;
  /** Conversations that somebody said no to. */
  declined = 0;
  readonly #session: Session;
  readonly #options: ImportOptions;
  readonly #questions: Questions;

  /** Nothing is read yet. */
  constructor(session: Session, options: ImportOptions) {
    this.#session = session;
    this.#options = options;
    this.progress = new Progress(session.io);
    this.#questions = new Questions(session.io);
    this.sending = new Sending(session, { ...options, progress: this.progress });
    this.analysis = new Analysis(session, this.progress);
  }

  /**
   * Reads a file and sends what is in it; a file that cannot be read becomes a problem.
   *
   * @throws what keeps the relayer from taking anything.
   */
  async file(file: ImportFile): Promise<void> {
    const input = await this.#tried(file, () => openInput(file, this.#session));
    if (input === undefined) return;
    try {
      await this.#input(file, input);
    } finally {
      await input.close();
    }
  }

  async #input(file: ImportFile, input: Input): Promise<void> {
    const contents = await this.#tried(
      file,
      () =>
        isAge(input.head)
          ? this.#bundle(file, input)
          : contentsOf(file, input, this.#options.format),
    );
    if (contents === undefined) return;
    if (contents.kind === "export") await this.#export(file, contents);
    else if (contents.kind === "markdown") await this.#markdown(file, contents.memory);
    else await this.#found(file, contents.report);
  }

  async #bundle(file: ImportFile, input: Input): Promise<Contents> {
    this.progress.clear();
    const bundle = await takeBundle(this.#session, file, input, this.#questions);
    return { kind: "export", ...bundle };
  }

  /** Reads something of a file; where that cannot be, it becomes a problem. */
  async #tried<T>(file: ImportFile, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      const why = whyUnreadable(error, file);
      if (why === undefined) throw error;
      this.#problem(file, why);
      return undefined;
    }
  }

  #problem({ shown }: ImportFile, error: string): void {
    this.progress.clear();
    this.problems.push({ path: shown, error: onOneLine(error) });
    const { io, line } = this.#session;
    if (!line.json) io.writeError(`${shown}: ${onOneLine(error)}\n`);
  }

  /** Keeps a report, and says what is not taken; a preview says it itself. */
  #report(report: FileReport): void {
    this.reports.push(report);
    if (this.#options.preview || this.#session.line.json) return;
    const left = omissions(report);
    if (left === "") return;
    this.progress.clear();
    this.#session.io.writeError(left);
  }

  /** Beginnings of the first texts; only a preview needs them. */
  #samples(memories: readonly { readonly text: string }[]): readonly string[] {
    if (!this.#options.preview) return [];
    return memories.slice(0, SAMPLES)
      .map(({ text }) => text.slice(0, SAMPLE_CHARACTERS).toWellFormed());
  }

  async #send(file: ImportFile, where: string, line: string, isEarlier = false): Promise<void> {
    if (this.#options.preview) return;
    await this.sending.add(line, { file: file.shown, where, isEarlier });
  }

  async #export(file: ImportFile, { chunks, statement }: ExportContents): Promise<void> {
    const namespaces = new Map<string, number>();
    let [memories, versions, bad] = [0, 0, 0];
    let [hasHeader, hasEnd] = [false, false];
    try {
      for await (const line of exportedLines(chunks, this.#options.placing)) {
        if (line.kind === "memory") {
          const { isEarlier } = line;
          if (isEarlier) versions++;
          else {
            memories++;
            const name = line.namespace ?? "";
            namespaces.set(name, (namespaces.get(name) ?? 0) + 1);
          }
          await this.#send(file, `line ${line.number}`, line.line, isEarlier);
        } else if (line.kind === "bad") {
          bad++;
          const where = `line ${line.number}`;
          this.sending.fail({ file: file.shown, where, error: line.problem });
        } else {
          hasHeader ||= line.kind === "header";
          hasEnd ||= line.kind === "end";
        }
      }
    } catch (error) {
      if (error instanceof Unreadable) return this.#problem(file, error.message);
      const isSystem = error instanceof Error && "syscall" in error;
      if (!isSystem) throw error;
      return this.#problem(file, `it cannot be read to its end (${systemReason(error)})`);
    }
    if (memories + versions + bad === 0) {
      return this.#problem(file, "svc was recognised, but it is empty");
    }
    this.#report({
      path: file.shown,
      format: "svc",
      memories,
      ...versions > 0 && { versions },
      conversations: 0,
      texts: 0,
      skipped: [],
      notes: [],
      namespaces: Object.fromEntries(namespaces),
      isCut: hasHeader && !hasEnd,
      ...statement && { signed: statement },
      samples: [],
    });
  }

  async #markdown(file: ImportFile, memory: MarkdownMemory): Promise<void> {
    const { namespace = memory.namespace } = this.#options.placing;
    const line = JSON.stringify({ type: "memory", ...memory, namespace });
    await this.#send(file, "as a whole", line);
    this.#report({
      path: file.shown,
      format: "svc-markdown",
      memories: 1,
      conversations: 0,
      texts: 0,
      skipped: [],
      notes: [],
      samples: this.#samples([memory]),
    });
  }

  async #found(file: ImportFile, found: ImportReport): Promise<void> {
    const { format, memories, conversations, skipped, notes } = found;
    const texts = textsIn(conversations);
    this.#report({
      path: file.shown,
      format,
      memories: memories.length,
      conversations: conversations.length,
      texts,
      skipped,
      notes,
      samples: this.#samples(memories),
    });
    for (const [at, memory] of memories.entries()) {
      await this.#send(file, `memory ${at + 1}`, lineOf(memory, this.#options.placing));
    }
    if (conversations.length === 0 || this.#options.preview) return;
    if (await this.#mayAnalyze(file, conversations.length, texts)) {
      await this.analysis.run(conversations, texts);
    }
  }

  /** Asks before conversations are analyzed: it takes long, and may cost. */
  async #mayAnalyze(file: ImportFile, conversations: number, texts: number): Promise<boolean> {
    const { line, io } = this.#session;
    this.progress.clear();
    const what = `it has ${counted(conversations, "conversation")}, ` +
      `${counted(texts, "text")} to analyze`;
    if (line.yes) {
      if (!line.json) io.writeError(`${file.shown}: ${what}.\n`);
      return true;
    }
    if (!isAsked(io)) {
      this.#problem(file, `${what}: add --yes if you want that`);
      return false;
    }
    io.writeError(`${file.shown}: ${what}, with one request each.\n`);
    if (await this.#questions.isYes("Analyze them, and save the facts in them?")) return true;
    this.declined += conversations;
    return false;
  }

  /** Sends what is left. @throws what keeps the relayer from taking it. */
  async finish(): Promise<void> {
    await this.sending.finish();
  }
}

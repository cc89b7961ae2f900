import type { SvcClient } from "../../../../src/client/client.ts";
import { fileNamePart, saveFile } from "../../parts/save_file.ts";

/** Characters that are gathered before the browser keeps them as a part of the file. */
const PART_CHARACTERS = 1_000_000;
/** How often it is told how far it is, in milliseconds. */
const TELL_MS = 150;

/** What an export needs of the page. */
export interface ExportSurroundings {
  /** A question to the relayer. */
  readonly ask: <T>(use: (client: SvcClient) => Promise<T>) => Promise<T>;
  /** Told of every change. */
  readonly changed: () => void;
}

/** How far an export is. */
export interface ExportProgress {
  readonly memories: number;
  /** Memories that are not in it because an app encrypted them. */
  readonly encrypted: number;
  /** Memories that could not be opened. */
  readonly unopened: number;
}

/** Writes memories into a file, which is offered only when it is whole. */
export class FileExport {
  readonly #surroundings: ExportSurroundings;
  readonly #stop = new AbortController();
  /** Only this namespace; every one when absent. */
  readonly namespace: string | undefined;
  /** About how many there are. */
  readonly expected: number;
  progress: ExportProgress = { memories: 0, encrypted: 0, unopened: 0 };
  /** Whether it is under way. */
  running = false;
  /** Why there is no file. */
  error: unknown;
  /** The file, once it is whole. */
  file: Blob | undefined;

  /** Asks nothing until {@linkcode run}. */
  constructor(
    namespace: string | undefined,
    expected: number,
    surroundings: ExportSurroundings,
  ) {
    this.namespace = namespace;
    this.expected = expected;
    this.#surroundings = surroundings;
  }

  /** Name of the file. */
  get name(): string {
    const what = this.namespace === undefined ? "everything" : fileNamePart(this.namespace);
    return `svc-${what || "memories"}-${new Date().toISOString().slice(0, 10)}.ndjson`;
  }

  /** Writes the file and has the browser save it. */
  async run(): Promise<void> {
    this.running = true;
    this.#surroundings.changed();
    try {
      this.file = await this.#surroundings.ask((client) => this.#write(client));
      this.save();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.error = error;
    }
    this.running = false;
    this.#surroundings.changed();
  }

  /** Gives it up. */
  stop(): void {
    this.#stop.abort();
  }

  /** Whether it was given up. */
  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Has the browser save the file. */
  save(): void {
    if (this.file !== undefined) saveFile(this.file, this.name);
  }

  async #write(client: SvcClient): Promise<Blob> {
    this.progress = { memories: 0, encrypted: 0, unopened: 0 };
    const parts: Blob[] = [];
    let text = "";
    let told = performance.now();
    let end: Record<string, unknown> | undefined;
    const { signal } = this.#stop;
    for await (const line of client.exportMemories(this.namespace, { signal })) {
      text += `${JSON.stringify(line)}\n`;
      this.#count(line);
      if (line.type === "end") end = line;
      if (text.length > PART_CHARACTERS) {
        parts.push(new Blob([text]));
        text = "";
      }
      if (performance.now() - told < TELL_MS) continue;
      this.#surroundings.changed();
      // Lines that are here already come without a pause in which the page could be drawn.
      await new Promise((resolve) => setTimeout(resolve));
      told = performance.now();
    }
    if (end?.memories !== this.progress.memories) {
      throw new Error("The export ended too early and is not whole: there is no file. Try again");
    }
    return new Blob([...parts, text], { type: "application/x-ndjson" });
  }

  #count({ type, code }: Record<string, unknown>): void {
    const { memories, encrypted, unopened } = this.progress;
    if (type === "memory") this.progress = { ...this.progress, memories: memories + 1 };
    else if (type === "error" && code === "manual_memory") {
      this.progress = { ...this.progress, encrypted: encrypted + 1 };
    } else if (type === "error") {
      this.progress = { ...this.progress, unopened: unopened + 1 };
    }
  }
}

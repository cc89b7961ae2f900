/**
 * How far the texts of a loaded scope are read, and what is known of its file: it ends with the
 * scope. Times are milliseconds since the epoch.
 */
interface WordsProgress {
  /** Present while someone reads. */
  running: Promise<void> | undefined;
  /** Memories that could not be opened, and when to try again. */
  readonly failed: Map<string, number>;
  /** Texts in the file, as far as known. */
  saved: number;
  /** How often the file was dropped before it was read or written. */
  drops: number;
  readAt: number;
  writtenAt: number;
  writing: boolean;
}

/** Of a scope that was just loaded. */
export function newProgress(): WordsProgress {
  return {
    running: undefined,
    failed: new Map(),
    saved: 0,
    drops: 0,
    readAt: -Infinity,
    writtenAt: -Infinity,
    writing: false,
  };
}

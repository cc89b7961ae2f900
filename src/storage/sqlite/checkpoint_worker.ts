import type { CheckpointAnswer, CheckpointRequest } from "./checkpoints.ts";
import { emptyLog, rewriteDatabase } from "./rewrite.ts";
import { SqliteFile } from "./sqlite_file.ts";
import { stepBack } from "./step_back.ts";

/**
 * Copies write-ahead logs into their databases, in a thread: its fsyncs hold up nobody.
 *
 * @module
 */

/** Connections of this thread, by path. */
const files = new Map<string, SqliteFile>();

function fileAt(path: string): SqliteFile {
  let file = files.get(path);
  if (file === undefined) files.set(path, file = new SqliteFile({ path }));
  return file;
}

function checkpoint(path: string): void {
  fileAt(path).get("pragma wal_checkpoint(passive)");
}

function close(path: string): void {
  void files.get(path)?.close();
  files.delete(path);
}

const scope = self as unknown as {
  onmessage: (event: MessageEvent<CheckpointRequest>) => void;
  postMessage(answer: CheckpointAnswer): void;
};

stepBack();

scope.onmessage = ({ data: { id, call, path } }) => {
  try {
    if (call === "close") close(path);
    else if (call === "empty") emptyLog(fileAt(path));
    else if (call === "rewrite") rewriteDatabase(path);
    else checkpoint(path);
    scope.postMessage({ id });
  } catch (error) {
    // Of a failure of SQLite the cause says which.
    const cause = error instanceof Error ? error.cause ?? error : error;
    scope.postMessage({ id, error: String(cause) });
  }
};

import { DatabaseSync } from "node:sqlite";
import { stepBack } from "./step_back.ts";
import type { CheckpointAnswer, CheckpointRequest } from "./checkpoint_messages.ts";

/** Thread that copies write-ahead logs into their databases: its fsyncs hold up nobody. */
const databases = new Map<string, DatabaseSync>();

function checkpoint(path: string): void {
  let database = databases.get(path);
  if (database === undefined) {
    database = new DatabaseSync(path, { timeout: 5000 });
    database.exec("pragma synchronous=normal; pragma wal_autocheckpoint=0");
    databases.set(path, database);
  }
  database.prepare("pragma wal_checkpoint(passive)").get();
}

function close(path: string): void {
  databases.get(path)?.close();
  databases.delete(path);
}

const scope = self as unknown as {
  onmessage: (event: MessageEvent<CheckpointRequest>) => void;
  postMessage(answer: CheckpointAnswer): void;
};

stepBack();

scope.onmessage = ({ data: { id, call, path } }) => {
  try {
    if (call === "close") close(path);
    else checkpoint(path);
    scope.postMessage({ id });
  } catch (error) {
    scope.postMessage({ id, error: String(error) });
  }
};

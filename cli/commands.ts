import { Buffer } from "node:buffer";
import type { Activity, Hit, Memory } from "../src/client/mod.ts";
import { TEXT_BYTES } from "../src/wire/limits.ts";
import { onOneLine } from "../src/printable.ts";
import { actionWords, fromWords } from "../src/client/text/action_words.ts";
import { CommandError, EXIT } from "./io.ts";
import { type Cell, columns, type Paint, paintFor, when } from "./output.ts";
import { clientOf, print, type Session } from "./session.ts";

/** Longest wait for the memory to become recallable, in milliseconds. */
const WAIT_MS = 30_000;

const memories = (count: number, kind = ""): string =>
  `${count} ${kind}${count === 1 ? "memory" : "memories"}`;

/** A hit on two lines: what was said; then when, and how well it fits. */
export function hitLines(hit: Hit, index: number, { dim }: Paint): string {
  const score = Number.isFinite(hit.score) ? hit.score : 1 - hit.distance;
  const number = `${index + 1}. `;
  const about = `${when(hit.occurred_at ?? hit.created_at)} · fits ${percent(score)}`;
  return `${number}${onOneLine(hit.text)}\n${" ".repeat(number.length)}${dim(about)}\n`;
}

function percent(score: number): string {
  return `${Math.round(100 * Math.min(1, Math.max(0, score)))} %`;
}

export async function recall(session: Session): Promise<void> {
  const { line, io, settings: { namespace } } = session;
  const found = await clientOf(session).recall(line.words, { limit: line.limit ?? 10, namespace });
  const paint = paintFor(io);
  const lines = found.results.map((hit, i) => hitLines(hit, i, paint)).join("");
  print(session, found, lines || "No matching memories found.\n");
  if (line.json) return;
  if (found.truncated) {
    io.writeError("More memories matched: together they are too large for one answer.\n");
  }
  if (found.dropped_count) {
    io.writeError(`${found.dropped_count} more could not be decrypted.\n`);
  }
  if (found.pending) {
    const verb = found.pending === 1 ? "is" : "are";
    const pending = memories(found.pending, "new ");
    io.writeError(`${pending} ${verb} still being indexed; try again shortly.\n`);
  }
}

/** Prints names, counts and bytes. */
export async function namespaces(session: Session): Promise<void> {
  const client = clientOf(session);
  const all = [];
  let cursor: string | undefined;
  do {
    const page = await client.namespaces({ cursor });
    all.push(...page.namespaces);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  const rows = all.map(({ namespace, memory_count, storage_bytes, last_write_at }): Cell[] => [
    namespace,
    memories(memory_count),
    `${storage_bytes} bytes`,
    { dim: `written ${when(last_write_at)}` },
  ]);
  const text = columns(rows, paintFor(session.io)) || "No memories yet.\n";
  print(session, { namespaces: all, total: all.length }, text);
}

/** Prints the memories of a namespace, newest first. */
export async function list(session: Session): Promise<void> {
  const { line, settings: { namespace } } = session;
  const wanted = line.limit ?? 50;
  const shown: Memory[] = [];
  const query = { limit: Math.min(wanted, 200), namespace };
  for await (const memory of clientOf(session).allMemories(query)) {
    shown.push(memory);
    if (shown.length === wanted) break;
  }
  const rows = shown.map((memory): Cell[] => {
    const { memory_id, created_at, occurred_at = created_at, text = withoutText(memory) } = memory;
    return [{ dim: memory_id }, when(occurred_at), text];
  });
  const text = columns(rows, paintFor(session.io)) || "No memories here.\n";
  print(session, { memories: shown }, text);
}

function withoutText({ source, text_error: code }: Memory): string {
  if (source === "manual") return "(encrypted by the app that saved it)";
  return code === undefined ? "(not readable)" : `(not readable: ${code})`;
}

/** Prints what keys did, newest first. */
export async function activity(session: Session): Promise<void> {
  const { line } = session;
  const client = clientOf(session);
  const wanted = line.limit ?? 50;
  const { keys } = await client.accountKeys();
  const labels = new Map(keys.map((key) => [key.public_key, key.label]));
  const shown: Activity[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(wanted - shown.length, 500);
    const page = await client.activity({ limit, cursor });
    shown.push(...page.entries);
    cursor = page.next_cursor;
  } while (cursor !== undefined && shown.length < wanted);
  const rows = shown.map((entry) => activityCells(entry, labels));
  print(
    session,
    { entries: shown },
    columns(rows, paintFor(session.io)) || "Nothing was done yet.\n",
  );
}

function activityCells(entry: Activity, labels: ReadonlyMap<string, string>): Cell[] {
  const { key, action, namespace, via, from, outcome, count, last_at } = entry;
  const who = key === "owner" ? "the wallet" : labels.get(key) ?? `removed key …${key.slice(-8)}`;
  const where = namespace === undefined ? "" : `in ${namespace}`;
  const how = `${via === "mcp" ? "MCP, " : ""}${fromWords(from)}`;
  const result = outcome === "ok" ? "" : outcome;
  return [
    { dim: when(last_at) },
    who,
    actionWords(action),
    where,
    how,
    count === 1 ? "" : `${count} times`,
    result,
  ];
}

export async function forget(session: Session): Promise<void> {
  const { line } = session;
  const client = clientOf(session);
  const name = onOneLine(line.words);
  if (!line.yes) {
    const message = `This deletes every memory of "${name}" for good. Add --yes if you mean it.`;
    throw new CommandError(EXIT.usage, message);
  }
  const answer = await client.forget(line.words);
  // A key that may not read is not told how many there were.
  const deleted = answer.deleted === undefined ? "the memories" : memories(answer.deleted);
  print(session, answer, `Deleted ${deleted} of "${name}".\n`);
}

/** Standard input as text, without the line end that `echo` adds. */
async function readStdin(stdin: ReadableStream<Uint8Array> | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > TEXT_BYTES + 2) {
      throw new CommandError(EXIT.usage, "The text is longer than 1 MiB.");
    }
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new CommandError(EXIT.usage, "The text is not UTF-8.");
  }
}

/** Saves a text, waits until it is recallable, says where it is, and its id. */
export async function remember(session: Session): Promise<void> {
  const { line, io, settings: { namespace } } = session;
  const client = clientOf(session);
  const text = line.words === "-" ? await readStdin(io.stdin) : line.words;
  if (text.trim() === "") throw new CommandError(EXIT.usage, "The text is empty.");
  const accepted = await client.remember(text, { namespace });
  const job = accepted.recallable
    ? accepted
    : await client.waitFor(accepted.job_id, { timeoutMs: WAIT_MS });
  if (job.status === "failed" && !job.recallable) {
    throw new CommandError(EXIT.error, `Saving failed (${job.error_code ?? "unknown reason"}).`);
  }
  const { memory_id, job_id, status, recallable } = job;
  const answer = { memory_id, job_id, namespace: job.namespace, status, recallable };
  const place = `Remembered in ${onOneLine(job.namespace)}.`;
  print(session, answer, `${place} ${paintFor(io).dim(onOneLine(memory_id))}\n`);
  if (!recallable) io.writeError("Saved. Indexing continues; recall finds it in a moment.\n");
}

import { olderHits } from "../src/client/text/older_hits.ts";
import type { Activity, Hit, Memory, Recalled } from "../src/client/mod.ts";
import { shown } from "../src/close_enough.ts";
import { onOneLine } from "../src/printable.ts";
import { actionWords, fromWords } from "../src/client/text/action_words.ts";
import { readingAdviceText, unreadWords } from "../src/client/text/unread_words.ts";
import { writerWords } from "../src/client/text/writer_words.ts";
import { secretsOf } from "./command_line.ts";
import { TOKEN_LABEL } from "../src/wire/session_token.ts";
import { CommandError, EXIT } from "./io.ts";
import { withoutText } from "./memories/get.ts";
import { allNamespaces, emptinessOf, namespaceOf, shownNamespace } from "./memories/namespaces.ts";
import { textOf } from "./memories/text_input.ts";
import { type Cell, columns, counted, type Paint, paintFor, when } from "./output.ts";
import { clientOf, print, sayRedacted, type Session } from "./session.ts";

/** Longest wait for the memory to become recallable, in milliseconds. */
const WAIT_MS = 30_000;

const memories = (count: number, kind = ""): string =>
  counted(count, `${kind}memory`, `${kind}memories`);

/**
 * A hit on two lines: what was said; then when, and how well it fits.
 *
 * @param own Public key that asks: what another one wrote says so.
 */
export function hitLines(
  hit: Hit,
  index: number,
  { dim }: Paint,
  { own, isOlder = false }: { readonly own: string; readonly isOlder?: boolean },
): string {
  const writer = hit.written_by === own ? undefined : writerWords(hit);
  const score = Number.isFinite(hit.score) ? hit.score : 1 - hit.distance;
  const number = `${index + 1}. `;
  const about = `${when(hit.occurred_at ?? hit.created_at)} · fits ${percent(score)}${
    writer === undefined ? "" : ` · by ${onOneLine(writer)}`
  }${isOlder ? " · older: one above says otherwise" : ""}`;
  return `${number}${onOneLine(hit.text)}\n${" ".repeat(number.length)}${dim(about)}\n`;
}

function percent(score: number): string {
  return `${Math.round(100 * Math.min(1, Math.max(0, score)))} %`;
}

export async function recall(session: Session): Promise<void> {
  const { line, io, settings: { namespace } } = session;
  const client = clientOf(session);
  const found = await client.recall(line.words, { limit: line.limit ?? 10, namespace });
  const own = await client.publicKey();
  const least = line.switches.includes("all") ? 0 : undefined;
  const { results, nearest } = shown(found.results, least);
  const paint = paintFor(io);
  const older = olderHits(results);
  const lines = results.map((hit, i) => hitLines(hit, i, paint, { own, isOlder: older.has(hit) }))
    .join("");
  const empty = found.results.length === 0 && !found.pending && !line.json
    ? await emptinessOf(session, namespaceOf(session))
    : undefined;
  const none = nearest.length === 0
    ? `${empty ?? "No matching memories found."}\n`
    : `Nothing close enough; the nearest are:\n\n${nearestLines(nearest, paint)}`;
  const answer = nearest.length === 0
    ? { ...found, results, total: results.length }
    : { ...found, results, total: 0, nearest, message: "Nothing close enough" };
  print(session, answer, lines || none);
  if (!line.json) sayWhatIsMissing(session, found);
}

/** Memories that hardly fit: with their ids, and without how well they do. */
function nearestLines(nearest: readonly Hit[], { dim }: Paint): string {
  return nearest.map(({ memory_id, text, created_at, occurred_at = created_at }) => {
    return `- ${onOneLine(text)}\n  ${dim(`${when(occurred_at)} · ${onOneLine(memory_id)}`)}\n`;
  }).join("");
}

function sayWhatIsMissing({ io }: Session, found: Recalled): void {
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
  for await (const namespace of allNamespaces(client)) all.push(namespace);
  const rows = all.map(({ namespace, memory_count, storage_bytes, last_write_at }): Cell[] => [
    shownNamespace(namespace),
    memories(memory_count),
    `${storage_bytes} bytes`,
    { dim: `written ${when(last_write_at)}` },
  ]);
  const text = columns(rows, paintFor(session.io), session.io) || "No memories yet.\n";
  print(session, { namespaces: all, total: all.length }, text);
}

/** Prints the memories of a namespace, newest first. */
export async function list(session: Session): Promise<void> {
  const { line, settings: { namespace } } = session;
  const wanted = line.limit ?? 50;
  const shown: Memory[] = [];
  const query = { limit: Math.min(wanted, 200), namespace };
  const client = clientOf(session);
  for await (const memory of client.allMemories(query)) {
    shown.push(memory);
    if (shown.length === wanted) break;
  }
  const own = await client.publicKey();
  const others = shown.map((one) => one.written_by === own ? "" : writerWords(one) ?? "");
  const rows = shown.map((memory, i): Cell[] => {
    const { memory_id, created_at, occurred_at = created_at, text = withoutText(memory) } = memory;
    const writer = others.every((other) => other === "") ? [] : [{ dim: others[i]! }];
    return [{ dim: memory_id }, when(occurred_at), ...writer, text];
  });
  const empty = rows.length === 0 && !line.json
    ? await emptinessOf(session, namespaceOf(session))
    : undefined;
  const text = columns(rows, paintFor(session.io), session.io);
  print(session, { memories: shown }, text || `${empty ?? "No memories here."}\n`);
}

/** Prints what keys did, newest first. */
export async function activity(session: Session): Promise<void> {
  const { line } = session;
  const client = clientOf(session);
  const wanted = line.limit ?? 50;
  const { keys } = await client.accountKeys();
  const labels = new Map(keys.map((key) => [key.public_key, key.label]));
  const key = keyAmong(keys, line.texts.key);
  const shown: Activity[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(wanted - shown.length, 500);
    const page = await client.activity({ limit, cursor, key });
    shown.push(...page.entries);
    cursor = page.next_cursor;
  } while (cursor !== undefined && shown.length < wanted);
  const rows = shown.map((entry) => activityCells(entry, labels));
  print(
    session,
    { entries: shown },
    columns(rows, paintFor(session.io), session.io) || "Nothing was done yet.\n",
  );
}

/** The key that is meant by its public key, the end of it, or its label; `owner` is the wallet. */
function keyAmong(
  keys: readonly { readonly public_key: string; readonly label: string }[],
  meant: string | undefined,
): string | undefined {
  if (meant === undefined || meant === "owner" || /^[0-9a-f]{64}$/i.test(meant)) return meant;
  const end = meant.replace(/^…/, "").toLowerCase();
  const found = keys.filter(({ public_key, label }) =>
    label === meant || label === TOKEN_LABEL + meant || end.length >= 8 && public_key.endsWith(end)
  );
  if (found.length === 1) return found[0]!.public_key;
  const which = found.length === 0 ? "No key has" : "Several keys have";
  throw new CommandError(
    EXIT.usage,
    `${which} that label or end; \`status\` and the dashboard know them.`,
  );
}

function activityCells(entry: Activity, labels: ReadonlyMap<string, string>): Cell[] {
  const { key, action, namespace, via, from, outcome, count, last_at } = entry;
  const who = key === "owner" ? "the wallet" : labels.get(key) ?? `removed key …${key.slice(-8)}`;
  const where = namespace === undefined ? "" : `in ${shownNamespace(namespace)}`;
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

/** Saves a text, waits until it is recallable, says where it is, and its id. */
export async function remember(session: Session): Promise<void> {
  const { line, io, settings: { namespace, relayer } } = session;
  const client = clientOf(session);
  const text = await textOf(session, line.words);
  const accepted = await client.remember(text, { namespace, ...secretsOf(line) });
  const job = accepted.recallable
    ? accepted
    : await client.waitFor(accepted.job_id, { timeoutMs: WAIT_MS });
  if (job.status === "failed" && !job.recallable) {
    throw new CommandError(EXIT.error, `Saving failed (${job.error_code ?? "unknown reason"}).`);
  }
  const { memory_id, job_id, status, recallable } = job;
  const { redacted, deduplicated, unread_language } = accepted;
  const folded = "folded" in job ? job.folded : undefined;
  const answer = {
    memory_id,
    job_id,
    namespace: job.namespace,
    status,
    recallable,
    deduplicated,
    folded,
    redacted,
    unread_language,
  };
  const verb = deduplicated ? "Already remembered" : "Remembered";
  const place = `${verb} in ${shownNamespace(job.namespace)}.`;
  const behind = folded === undefined
    ? ""
    : `It says what another memory says; recall shows that one: ${onOneLine(folded.memory_id)}\n`;
  print(session, answer, `${place} ${paintFor(io).dim(onOneLine(memory_id))}\n${behind}`);
  sayRedacted(session, redacted);
  const unread = unreadWords(unread_language);
  if (unread !== undefined && !line.json) {
    const advice = readingAdviceText(relayer);
    io.writeError(`${unread}\n${advice === undefined ? "" : `${advice}\n`}`);
  }
  if (!recallable) io.writeError("Saved. Indexing continues; recall finds it in a moment.\n");
}

import type { Reviewed, SvcClient } from "../../src/client/mod.ts";
import { SvcError } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { CommandError, EXIT, programOf } from "../io.ts";
import { counted, type Paint, paintFor, when } from "../output.ts";
import { clientOf, print, type Session } from "../session.ts";
import { withoutText } from "./get.ts";
import { about, wholeId } from "./ids.ts";
import { LINK_WORDS } from "./link_words.ts";
import { namespaceOf, shownNamespace } from "./namespaces.ts";

/** Longest wait until the decision is recalled, in milliseconds. */
const WAIT_MS = 30_000;
/** Items that are shown where nothing else is asked for. */
const SHOWN = 50;

const POLICIES = ["suggest", "auto", "off", "default"] as const;
/** What becomes of what says the same as a memory that is there. */
const DUPLICATES: ReadonlyMap<string, boolean | null> = new Map([
  ["fold", true],
  ["keep", false],
  ["default", null],
]);

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);

/** Shows what rules found and nobody has decided on; or decides, or says what rules may do. */
export async function review(session: Session): Promise<void> {
  const [word, ...rest] = session.line.args;
  if (word === undefined) return await showInbox(session);
  if (word === "accept" || word === "undo") return await decide(session, word, rest);
  if (word === "policy") return await choose(session, rest);
  if (word === "duplicates") return await chooseDuplicates(session, rest);
  throw usage(
    "review takes accept <id>, undo <id>, policy <how> or duplicates <how>, and not " +
      `${onOneLine(word)}.`,
  );
}

/** Items of the inbox, page by page. */
async function* itemsOf(client: SvcClient, namespace: string): AsyncGenerator<Reviewed, void> {
  let cursor: string | undefined;
  do {
    const page = await client.review({ namespace, cursor, limit: 200 });
    yield* page.items;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
}

async function showInbox(session: Session): Promise<void> {
  const { line, io } = session;
  const client = clientOf(session);
  const namespace = namespaceOf(session);
  const wanted = line.limit ?? SHOWN;
  const { items, total, conflicts } = await client.review({
    namespace,
    limit: Math.min(200, wanted),
  });
  const paint = paintFor(io);
  const program = programOf(io);
  const advice = paint.dim(`Right or wrong: ${program} review accept <id>, or undo <id>`);
  const text = items.length === 0
    ? `Nothing to review in ${shownNamespace(namespace)}.\n`
    : `${items.map((item) => itemLines(item, paint)).join("\n")}\n${advice}\n`;
  print(session, { items, total, conflicts }, text);
  if (total > items.length && !line.json) {
    io.writeError(`${counted(total - items.length, "more")} not shown (--limit).\n`);
  }
}

/** An item: what was said, why it is here, and what the other memories say. */
function itemLines(item: Reviewed, { dim }: Paint): string {
  const { memory_id, text = withoutText(item), created_at, occurred_at = created_at } = item;
  const from = item.reasons.includes("untrusted")
    ? ` · from ${item.trust === "web" ? "the web" : "an import"}`
    : "";
  const links = item.links.map((link) => {
    const other = onOneLine(link.text ?? "(not readable)");
    const sure = `rule ${onOneLine(link.by)}, ${Math.round(100 * link.score)} %`;
    return `  ${LINK_WORDS[link.kind]}: ${other} ${dim(`(${sure})`)}\n`;
  });
  const about = dim(`  ${onOneLine(memory_id)} · ${when(occurred_at)}${from}`);
  return `${onOneLine(text)}\n${links.join("")}${about}\n`;
}

/** The whole id of a word: what is over or folded is in no list, so the inbox is looked at first. */
async function idOf(session: Session, client: SvcClient, word: string): Promise<string> {
  const fitting: string[] = [];
  for await (const { memory_id } of itemsOf(client, namespaceOf(session))) {
    if (word.length >= 8 && memory_id.startsWith(word.toLowerCase())) fitting.push(memory_id);
  }
  return fitting.length === 1 ? fitting[0]! : await wholeId(session, client, word);
}

async function decide(
  session: Session,
  decision: "accept" | "undo",
  [word, other, ...more]: readonly string[],
): Promise<void> {
  if (word === undefined || more.length > 0) {
    throw usage(`review ${decision} takes the id of a memory, and of the other one if you like.`);
  }
  const client = clientOf(session);
  const id = await idOf(session, client, word);
  const otherId = other === undefined ? undefined : await idOf(session, client, other);
  const call = client.decideReview(id, decision, otherId).catch((error: unknown) => {
    if (!(error instanceof SvcError) || error.field !== "memory_id") throw error;
    const message = "There is nothing to decide: no rule found anything about it, or it was " +
      `decided before. A memory that should not be there: ${programOf(session.io)} forget <id>`;
    throw new SvcError("invalid_parameter", message);
  });
  const accepted = await about(session, id, call);
  await client.waitFor(accepted.job_id, { timeoutMs: WAIT_MS });
  const done = decision === "accept" ? "Accepted." : "Undone.";
  const { memory_id, version } = accepted;
  const dim = paintFor(session.io).dim(`${onOneLine(memory_id)} version ${version}`);
  print(session, { ...accepted, decision }, `${done} ${dim}\n`);
}

async function choose(session: Session, [word, ...more]: readonly string[]): Promise<void> {
  const policy = POLICIES.find((one) => one === word);
  if (policy === undefined || more.length > 0) {
    throw usage("review policy takes suggest, auto, off or default.");
  }
  const namespace = namespaceOf(session);
  const conflicts = policy === "default" ? null : policy;
  const answer = await clientOf(session).call("PUT /api/namespaces", {
    body: { namespace, conflicts },
  });
  const place = shownNamespace(namespace);
  print(session, answer, `Contradictions in ${place}: ${onOneLine(answer.conflicts)}.\n`);
}

async function chooseDuplicates(session: Session, words: readonly string[]): Promise<void> {
  const [word = "", ...more] = words;
  const deduplicate = DUPLICATES.get(word);
  if (deduplicate === undefined || more.length > 0) {
    throw usage("review duplicates takes fold, keep or default.");
  }
  const namespace = namespaceOf(session);
  const answer = await clientOf(session).call("PUT /api/namespaces", {
    body: { namespace, deduplicate },
  });
  const how = answer.deduplicate ? "kept once" : "kept as often as it is written";
  print(session, answer, `What says the same in ${shownNamespace(namespace)} is ${how}.\n`);
}

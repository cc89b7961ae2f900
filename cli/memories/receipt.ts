import { open } from "node:fs/promises";
import {
  type Receipt,
  receiptOf,
  type ReceiptStatement,
  SvcClient,
  SvcError,
  verifyReceipt,
} from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { isUuid } from "../../src/wire/keys.ts";
import { RECEIPT_IDS } from "../../src/wire/limits.ts";
import { CommandError, EXIT, programOf } from "../io.ts";
import { clientOf, print, type Session } from "../session.ts";
import { namespaceOf } from "./namespaces.ts";
import { systemReason, writePrivateText } from "./output_file.ts";
import { receiptWords } from "./receipt_words.ts";

/** A receipt of a large namespace has an id for each of its memories. */
const FILE_BYTES = 67_108_864;
/** Longest wait for the relayer's key, in milliseconds: without it the receipt is checked, too. */
const KEY_MS = 5000;

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);

/** The text of a file that is not larger than a receipt may be. */
async function readReceiptFile(path: string): Promise<string> {
  const shown = onOneLine(path);
  try {
    const file = await open(path, "r");
    try {
      if ((await file.stat()).size <= FILE_BYTES) return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new CommandError(EXIT.error, `${shown} cannot be read (${systemReason(error)}).`);
  }
  throw new CommandError(EXIT.error, `${shown} is larger than any receipt.`);
}

/** The receipt in a file: alone, or in an answer of the relayer as `--json` prints it. */
function parseReceipt(path: string, text: string): Receipt {
  const no = (why: string) =>
    new CommandError(EXIT.error, `${onOneLine(path)} is no receipt of svc: ${why}.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw no("it is not JSON");
  }
  try {
    const inner: unknown = Object(value).receipt;
    return receiptOf(inner ?? value);
  } catch {
    throw no("a statement, a signature and a key are expected");
  }
}

/** What the receipt says. @throws {CommandError} when it was altered, or another key made it. */
function checked(path: string, receipt: Receipt, key?: string): ReceiptStatement {
  try {
    return verifyReceipt(receipt, key);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new CommandError(
      EXIT.error,
      `${onOneLine(path)} is not valid. ${onOneLine(error.message)}.`,
    );
  }
}

/** The key that the relayer publishes; `undefined` where nobody answers, or it has none. */
async function publishedKey({ settings, io }: Session): Promise<string | undefined> {
  // The route is public, so that any key will do.
  const client = new SvcClient({
    baseUrl: settings.relayer,
    privateKey: "00".repeat(32),
    timeoutMs: KEY_MS,
    retry: { attempts: 1 },
    fetch: io.fetch,
  });
  const answer = await client.receiptKey().catch(() => undefined);
  return typeof answer?.public_key === "string" ? answer.public_key : undefined;
}

/** Whose key made a receipt, as far as anybody here can tell. */
async function whose(session: Session, path: string, { public_key }: Receipt) {
  const { credentials, settings, line } = session;
  const given = line.texts.key;
  if (given !== undefined) return { isKnown: true, words: "It was made by the key you gave." };
  const isNamed = credentials !== undefined ||
    line.packageFlags.some((flag) => /^--(relayer=|prod$|dev$|staging$|local$)/.test(flag));
  const published = isNamed ? await publishedKey(session) : undefined;
  if (published === undefined) {
    const words = `Nothing here says whose key it is: compare it with the one you know.\n` +
      `Key: ${onOneLine(public_key)}`;
    return { isKnown: false, words };
  }
  if (published.toLowerCase() === public_key.toLowerCase()) {
    return { isKnown: true, words: `It was made by the key of ${settings.relayer}.` };
  }
  const message = `${onOneLine(path)} was not altered, but it was not made by the key of ` +
    `${settings.relayer}: another relayer made it, or somebody else. ` +
    "With --key you compare it with a key that you know.";
  throw new CommandError(EXIT.error, message);
}

async function verifyFile(session: Session, words: readonly string[]): Promise<void> {
  const { line } = session;
  const [path, ...others] = words;
  if (path === undefined || others.length > 0) throw usage("receipt verify takes one file.");
  if (line.texts.output !== undefined) throw usage("--output is not a flag of receipt verify.");
  const { key } = line.texts;
  if (key !== undefined && !/^[0-9a-f]{64}$/i.test(key)) {
    throw usage("--key must be 64 hex characters.");
  }
  const receipt = parseReceipt(path, await readReceiptFile(path));
  const statement = checked(path, receipt, key);
  const { isKnown, words: maker } = await whose(session, path, receipt);
  const { public_key } = receipt;
  const answer = { valid: true, key_known: isKnown, public_key, statement };
  print(session, answer, `The receipt is valid. ${maker}\n${receiptWords(statement)}`);
}

/** Says what to do about memories of which the relayer gives no receipt. */
function advice(error: unknown, session: Session): unknown {
  if (!(error instanceof SvcError)) return error;
  if (error.code === "not_found" || error.code === "method_not_allowed") {
    return new SvcError(error.code, "This relayer is of an earlier version, and gives no receipts");
  }
  if (error.code !== "memory_not_found") return error;
  const message = `Not all of these were deleted in "${onOneLine(namespaceOf(session))}" through ` +
    "this relayer. Name the namespace with --namespace";
  return new SvcError("memory_not_found", message);
}

async function askReceipt(session: Session, ids: readonly string[]): Promise<void> {
  const { line, io } = session;
  if (line.texts.key !== undefined) throw usage("--key is a flag of receipt verify.");
  const odd = ids.find((id) => !isUuid(id));
  if (odd !== undefined) {
    const message =
      `"${onOneLine(odd)}" is no whole id: what was deleted is in no list any more. ` +
      `To check a file: ${programOf(io)} receipt verify <file>`;
    throw usage(message);
  }
  if (ids.length > RECEIPT_IDS) throw usage(`A receipt names at most ${RECEIPT_IDS} memories.`);
  const { namespace } = session.settings;
  const answer = await clientOf(session).receipt(ids, namespace).catch((error: unknown) => {
    throw advice(error, session);
  });
  const statement = checked("The relayer's receipt", answer.receipt);
  const path = line.texts.output;
  if (path !== undefined) await writePrivateText(path, `${JSON.stringify(answer.receipt)}\n`);
  const saved = path === undefined
    ? "To keep it: --output <file>\n"
    : `The receipt is in ${onOneLine(path)}.\n`;
  print(session, answer, receiptWords(statement) + saved);
}

/** Asks for the receipt of deleted memories as things are now, or checks one in a file. */
export async function receipt(session: Session): Promise<void> {
  const [first, ...rest] = session.line.args;
  if (first === "verify") await verifyFile(session, rest);
  else await askReceipt(session, session.line.args);
}

import {
  type AnswerOf,
  type Receipt,
  type ReceiptStatement,
  type SvcClient,
  verifyReceipt,
} from "../../src/client/mod.ts";
import { onOneLine, printable } from "../../src/printable.ts";
import { CommandError, EXIT, type ExitCode, programOf } from "../io.ts";
import { counted, paintFor } from "../output.ts";
import { clientOf, print, type Session } from "../session.ts";
import { isAsked, Questions } from "./asking.ts";
import { factsOf, withoutText } from "./get.ts";
import { about, isId, wholeId } from "./ids.ts";
import { emptinessOf } from "./namespaces.ts";
import { OutputFile } from "./output_file.ts";
import { erasureWords } from "./receipt_words.ts";

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);

/** What is to be deleted: one memory, or all of a namespace. */
type Target = { readonly id: string } | { readonly namespace: string };

function targetOf({ line, io }: Session): Target {
  const { args, words, namespace } = line;
  if (words.trim() === "") {
    if (namespace) return { namespace };
    throw usage("forget needs the id of a memory, or --namespace <name>.");
  }
  if (args.length === 1 && isId(words)) return { id: words };
  // Of two names one is a mistake, and what is deleted does not come back.
  if (namespace !== undefined) {
    const message = `"${onOneLine(words)}" is no id of a memory: nothing is deleted. ` +
      `To delete a namespace: ${programOf(io)} forget --namespace <name>`;
    throw usage(message);
  }
  return { namespace: words };
}

/** What a deletion answered: whether anything is left, and the receipt that says what. */
interface Erasure {
  readonly erased?: boolean | undefined;
  readonly receipt?: Receipt | undefined;
}

/** Whether a receipt is about what was deleted. */
function isAbout(statement: ReceiptStatement, target: Target): boolean {
  return "id" in target
    ? statement.memory_ids?.includes(target.id)
    : statement.namespace === target.namespace;
}

/** What became of a deletion, in words; says where the receipt is wrong. */
function erasureOf(
  { erased, receipt }: Erasure,
  target: Target,
): { words: string; isWrong: boolean } {
  if (receipt === undefined) {
    const words = erased === true
      ? " Nothing of it is left anywhere."
      : erased === false
      ? " Something of it is left for a while."
      : "";
    return { words, isWrong: false };
  }
  try {
    const statement = verifyReceipt(receipt);
    if (isAbout(statement, target)) {
      return { words: ` ${erasureWords(statement)}`, isWrong: false };
    }
  } catch {
    // Said below.
  }
  return { words: " The relayer's receipt is not valid: do not rely on it.", isWrong: true };
}

/** The file for the receipt, opened before anything is deleted; its folder may not be there. */
async function receiptFile({ line }: Session): Promise<OutputFile | undefined> {
  const path = line.texts.receipt;
  return path === undefined ? undefined : await OutputFile.open(path);
}

/** Deletes, with the file for the receipt open meanwhile; says on standard error if there is none. */
async function deleting<T extends Erasure>(
  session: Session,
  target: Target,
  call: () => Promise<T>,
): Promise<{ answer: T; words: string; exitCode: ExitCode }> {
  const file = await receiptFile(session);
  const answer = await call().catch(async (error: unknown) => {
    await file?.discard();
    throw error;
  });
  const { words, isWrong } = erasureOf(answer, target);
  let exitCode: ExitCode = isWrong ? EXIT.error : EXIT.success;
  if (file !== undefined && answer.receipt !== undefined) {
    await file.write(`${JSON.stringify(answer.receipt)}\n`);
    await file.commit();
  } else if (file !== undefined) {
    await file.discard();
    session.io.writeError(
      "The relayer gave no receipt: it is of an earlier version, or the key " +
        "may not read.\n",
    );
    exitCode = EXIT.error;
  }
  return { answer, words, exitCode };
}

/** Shows the memory and asks; answers the version that was shown. */
async function askFirst(session: Session, client: SvcClient, id: string): Promise<number> {
  const { line, io } = session;
  const memory = await about(session, id, client.memory(id));
  const text = printable(memory.text ?? withoutText(memory));
  const shown = `${text}\n${paintFor(io).dim(factsOf(memory))}\n`;
  if (line.json) io.writeError(shown);
  else io.write(shown);
  if (await new Questions(io).isYes("Delete it for good?")) return memory.version;
  throw new CommandError(EXIT.error, "Nothing was deleted.");
}

async function forgetMemory(session: Session, word: string): Promise<ExitCode> {
  const { line, io } = session;
  if (!line.yes && !isAsked(io)) {
    throw usage("This deletes the memory for good. Add --yes if you mean it.");
  }
  const client = clientOf(session);
  const id = await wholeId(session, client, word);
  const expectedVersion = line.yes ? undefined : await askFirst(session, client, id);
  type Deleted = AnswerOf<"DELETE /api/memories/:id">;
  const { answer, words, exitCode } = await deleting<Deleted>(
    session,
    { id },
    () => about(session, id, client.deleteMemory(id, { expectedVersion })),
  );
  // What is left now is said anew by a receipt of later.
  const isLeft = answer.receipt !== undefined && answer.erased === false;
  const { restatements = [] } = answer;
  const also = restatements.length === 0
    ? ""
    : ` So ${
      restatements.length === 1 ? "is one memory" : `are ${restatements.length} memories`
    } that said the same.`;
  const later = isLeft ? `To ask again later: ${programOf(io)} receipt ${id}\n` : "";
  print(session, answer, `Forgotten.${also}${words}\n${later}`);
  return exitCode;
}

async function forgetNamespace(session: Session, namespace: string): Promise<ExitCode> {
  const { line } = session;
  const name = onOneLine(namespace);
  if (!line.yes) {
    throw usage(`This deletes every memory of "${name}" for good. Add --yes if you mean it.`);
  }
  const client = clientOf(session);
  const { answer, words, exitCode } = await deleting(
    session,
    { namespace },
    () => client.forget(namespace),
  );
  // A key that may not read is not told how many there were.
  const deleted = answer.deleted === undefined
    ? "the memories"
    : counted(answer.deleted, "memory", "memories");
  const nothing = answer.deleted === 0 && !line.json
    ? await emptinessOf(session, namespace)
    : undefined;
  print(session, answer, `${nothing ?? `Deleted ${deleted} of "${name}".${words}`}\n`);
  return exitCode;
}

/** Deletes one memory, or every memory of a namespace. */
export async function forget(session: Session): Promise<ExitCode> {
  const target = targetOf(session);
  return "id" in target
    ? await forgetMemory(session, target.id)
    : await forgetNamespace(session, target.namespace);
}

import { readFile, stat } from "node:fs/promises";
import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import { systemReason } from "../output_file.ts";

/** A question, and what tells the memory that answers it. */
export interface AskedQuestion {
  readonly question: string;
  /** Id of the memory, or its end; or words that its text has, one after the other. */
  readonly expected: string;
}

/** Most bytes of a file, and most questions in it: each is several recalls. */
const FILE_BYTES = 1024 * 1024;
const MOST = 1_000;

const ID = /^(?=.*\d)[0-9a-f-]{8,36}$/i;
const ARROW = /\s=>\s/;

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();

/** Whether a memory is the one that is expected. */
export function isExpected(
  { expected }: AskedQuestion,
  { memory_id, text }: { readonly memory_id: string; readonly text: string },
): boolean {
  if (ID.test(expected) && memory_id.endsWith(expected.toLowerCase())) return true;
  return plain(text).includes(plain(expected));
}

/**
 * Questions of a file: a line each, `question => what tells its memory`. Lines that begin with `#`, and
 * empty ones, are none.
 *
 * @throws {CommandError} with the usage exit code for a line of another form, for none, and for too
 * many.
 */
export function parseQuestions(content: string): AskedQuestion[] {
  const questions = content.replace(/^\uFEFF/, "").split("\n").flatMap((line, i) => {
    if (line.trim() === "" || line.startsWith("#")) return [];
    const [question = "", expected = "", ...more] = line.split(ARROW).map((part) => part.trim());
    if (question === "" || expected === "" || more.length > 0) {
      throw new CommandError(
        EXIT.usage,
        `Line ${i + 1}: a question, " => " and the id of its memory, or words of it, are expected.`,
      );
    }
    return [{ question, expected }];
  });
  if (questions.length === 0) throw new CommandError(EXIT.usage, "There is no question in it.");
  if (questions.length > MOST) {
    throw new CommandError(EXIT.usage, `More than ${MOST} questions are in it.`);
  }
  return questions;
}

/**
 * Reads the questions of a file.
 *
 * @throws {CommandError} where it cannot be read, and as {@linkcode parseQuestions}.
 */
export async function readQuestions(path: string): Promise<AskedQuestion[]> {
  const shown = onOneLine(path);
  let content: string;
  try {
    if ((await stat(path)).size > FILE_BYTES) {
      throw new CommandError(EXIT.usage, `${shown} is larger than 1 MiB.`);
    }
    content = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(EXIT.error, `${shown} cannot be read (${systemReason(error)}).`);
  }
  return parseQuestions(content);
}

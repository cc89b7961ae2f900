import type { CliIo } from "../io.ts";

/** Longest answer that is read, in bytes. */
const ANSWER_BYTES = 1024;

/** Asks on standard error and reads one line; the end of the input is a no. */
export async function confirm(question: string, io: CliIo): Promise<boolean> {
  io.writeError(question);
  const decoder = new TextDecoder();
  let answer = "";
  const reader = io.stdin?.getReader();
  while (reader !== undefined && !answer.includes("\n") && answer.length < ANSWER_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    answer += decoder.decode(value, { stream: true });
  }
  reader?.releaseLock();
  return /^\s*y(es)?\s*$/i.test(answer.split("\n")[0] ?? "");
}

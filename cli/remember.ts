import { TEXT_BYTES } from "../src/wire/limits.ts";
import { CommandError, EXIT } from "./io.ts";
import { clientOf, print, type Session } from "./session.ts";

/** Longest wait for the memory to become recallable, in milliseconds. */
const WAIT_MS = 30_000;

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
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
    return (text + decoder.decode()).replace(/\r?\n$/, "");
  } catch {
    throw new CommandError(EXIT.usage, "The text is not UTF-8.");
  }
}

/** Saves a text, waits until it is recallable, prints its id. */
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
  print(session, answer, `${memory_id}\n`);
  if (!recallable) io.writeError("Saved. Indexing continues; recall finds it in a moment.\n");
}

import { replaceFile } from "../../replace_file.ts";
import { makePrivateFolder } from "../../storage/private_file.ts";
import { folderOf } from "../../storage/private_file.ts";

/** A log that is larger is put aside at the next start, bytes. */
const MOST_BYTES = 10 * 1024 * 1024;
/** Bytes read from the end of the log for its last lines. */
const TAIL_BYTES = 1024 * 1024;
const POLL_MS = 250;

/** Path of the log of a program in the background, beside its data directory. */
export const logFileOf = (dataDir: string): string => `${folderOf(dataDir)}/svc.log`;

/** Makes the log file, for its user alone; a large one becomes `svc.log.1`, in place of the one before. */
export async function prepareLog(path: string): Promise<void> {
  await makePrivateFolder(folderOf(path));
  const size = await Deno.stat(path).then((info) => info.size, () => 0);
  if (size > MOST_BYTES) await replaceFile(path, `${path}.1`);
  (await Deno.open(path, { create: true, append: true, mode: 0o600 })).close();
}

/** The last lines of a log. */
export async function lastLines(path: string, count: number): Promise<string> {
  using file = await Deno.open(path);
  const { size } = await file.stat();
  const start = Math.max(0, size - TAIL_BYTES);
  await file.seek(start, Deno.SeekMode.Start);
  const text = await new Response(file.readable).text();
  const lines = text.split("\n").slice(start > 0 ? 1 : 0);
  return lines.slice(-count - 1).join("\n");
}

/** What is added to a log from now on, until aborted. */
export async function* newLines(path: string, signal: AbortSignal): AsyncGenerator<string> {
  let at = (await Deno.stat(path)).size;
  const decoder = new TextDecoder();
  while (!signal.aborted) {
    const { size } = await Deno.stat(path);
    if (size < at) at = 0; // It was put aside.
    if (size > at) {
      using file = await Deno.open(path);
      await file.seek(at, Deno.SeekMode.Start);
      const bytes = new Uint8Array(size - at);
      at += await file.read(bytes) ?? 0;
      yield decoder.decode(bytes, { stream: true });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

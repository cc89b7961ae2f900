import type { Hit, Memory, SvcClient } from "../src/client/mod.ts";
import type { CommandLine } from "./command_line.ts";
import { type CliIo, CommandError, EXIT, type ExitCode, printable } from "./io.ts";

/** Names the namespace when it is not the default one. */
const where = (namespace: string | undefined): object =>
  namespace === undefined ? {} : { namespace };

const memories = (count: number, kind = ""): string =>
  `${count} ${kind}${count === 1 ? "memory" : "memories"}`;

function hitLine(hit: Hit, index: number): string {
  const score = Number.isFinite(hit.score) ? hit.score : 1 - hit.distance;
  return `${index + 1}. [score=${score.toFixed(3)}] ${printable(hit.text)}\n`;
}

export async function recall(
  client: SvcClient,
  line: CommandLine,
  namespace: string | undefined,
  io: CliIo,
): Promise<ExitCode> {
  const found = await client.recall(line.words, { limit: line.limit ?? 10, ...where(namespace) });
  if (line.json) {
    io.write(JSON.stringify(found) + "\n");
    return EXIT.success;
  }
  if (found.results.length === 0) io.write("No matching memories found.\n");
  else io.write(found.results.map(hitLine).join(""));
  if (found.dropped_count) {
    io.writeError(`${found.dropped_count} more could not be decrypted.\n`);
  }
  if (found.pending) {
    const verb = found.pending === 1 ? "is" : "are";
    const pending = memories(found.pending, "new ");
    io.writeError(`${pending} ${verb} still being indexed; try again shortly.\n`);
  }
  return EXIT.success;
}

/** Prints names, counts and bytes. */
export async function namespaces(
  client: SvcClient,
  line: CommandLine,
  io: CliIo,
): Promise<ExitCode> {
  const all = [];
  let cursor: string | undefined;
  do {
    const page = await client.namespaces({ cursor });
    all.push(...page.namespaces);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  if (line.json) io.write(JSON.stringify({ namespaces: all, total: all.length }) + "\n");
  else if (all.length === 0) io.write("No memories yet.\n");
  for (const entry of line.json ? [] : all) {
    const count = `${memories(entry.memory_count)}, ${entry.storage_bytes} bytes`;
    io.write(`${printable(entry.namespace)}  ${count}\n`);
  }
  return EXIT.success;
}

/** Prints the memories of a namespace, newest first. */
export async function list(
  client: SvcClient,
  line: CommandLine,
  namespace: string | undefined,
  io: CliIo,
): Promise<ExitCode> {
  const wanted = line.limit ?? 50;
  const shown: Memory[] = [];
  const query = { limit: Math.min(wanted, 200), ...where(namespace) };
  for await (const memory of client.allMemories(query)) {
    shown.push(memory);
    if (shown.length === wanted) break;
  }
  if (line.json) io.write(JSON.stringify({ memories: shown }) + "\n");
  else if (shown.length === 0) io.write("No memories here.\n");
  for (const memory of line.json ? [] : shown) {
    const text = printable(memory.text ?? withoutText(memory));
    io.write(`${memory.memory_id}  ${memory.created_at}  ${text}\n`);
  }
  return EXIT.success;
}

function withoutText({ source, text_error: code }: Memory): string {
  if (source === "manual") return "(encrypted by the app that saved it)";
  return code === undefined ? "(not readable)" : `(not readable: ${code})`;
}

export async function forget(
  client: SvcClient,
  line: CommandLine,
  io: CliIo,
): Promise<ExitCode> {
  const name = printable(line.words);
  if (!line.yes) {
    const message = `This deletes every memory of "${name}" for good. Add --yes if you mean it.`;
    throw new CommandError(EXIT.usage, message);
  }
  const answer = await client.forget(line.words);
  io.write(
    line.json
      ? JSON.stringify(answer) + "\n"
      : `Deleted ${memories(answer.deleted)} of "${name}".\n`,
  );
  return EXIT.success;
}

import type { AnswerOf, Memory } from "../../src/client/mod.ts";
import { writerWords } from "../../src/client/text/writer_words.ts";
import { onOneLine, printable } from "../../src/printable.ts";
import { numberOf } from "../command_line.ts";
import { programOf } from "../io.ts";
import { type Cell, columns, paintFor, when } from "../output.ts";
import { clientOf, print, type Session } from "../session.ts";
import { SvcError } from "../../src/client/mod.ts";
import { about, onlyWord, wholeId } from "./ids.ts";
import { LINK_WORDS } from "./link_words.ts";
import { shownNamespace } from "./namespaces.ts";

/** A memory with its versions. */
type WithVersions = AnswerOf<"GET /api/memories/:id">;

/** Importance of a memory for which none was given. */
const USUAL_IMPORTANCE = 0.5;
/** Versions that are shown where nothing else is asked for. */
const VERSIONS = 50;

/** What stands in the place of a text that is not there. */
export function withoutText(
  { source, text_error: code }: Pick<Memory, "source" | "text_error">,
): string {
  if (source === "manual") return "(encrypted by the app that saved it)";
  return code === undefined ? "(not readable)" : `(not readable: ${onOneLine(code)})`;
}

/** What there is to say about a memory besides its text, on one line. */
export function factsOf(memory: WithVersions): string {
  const { namespace, occurred_at, created_at, importance, metadata, expires_at } = memory;
  const { version, versions, recallable } = memory;
  const newest = versions[0]?.version ?? version;
  const writer = writerWords(memory);
  const parts = [
    shownNamespace(namespace),
    ...(occurred_at === undefined ? [] : [`said ${when(occurred_at)}`]),
    `accepted ${when(created_at)}`,
    ...(writer === undefined ? [] : [`by ${writer}`]),
    newest > 1 ? `version ${version} of ${newest}` : `version ${version}`,
    ...(importance === USUAL_IMPORTANCE ? [] : [`importance ${importance}`]),
    ...Object.entries(metadata ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(expires_at === undefined ? [] : [endsWhen(expires_at)]),
    ...(recallable || version !== newest ? [] : ["not recallable yet"]),
  ];
  return parts.map(onOneLine).join(" · ");
}

/** What ties a memory to others, and which rule found it. */
function tiesOf({ links = [] }: WithVersions): string[] {
  return links.map(({ kind, memory_id, by, score }) => {
    const rule = by === "caller" ? "" : ` · rule ${by}, ${Math.round(100 * score)} %`;
    return onOneLine(`${LINK_WORDS[kind]} ${memory_id}${rule}`);
  });
}

function endsWhen(time: string): string {
  return `${Date.parse(time) <= Date.now() ? "ended" : "ends"} ${when(time)}`;
}

/** Says which version is not there, where it is not the memory that is missing. */
async function ofVersion<T>(session: Session, id: string, version: number, call: Promise<T>) {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "memory_not_found") throw error;
    const message = `There is no memory ${id}, or it never had a version ${version}. ` +
      `Its versions: ${programOf(session.io)} history ${id}`;
    throw new SvcError("memory_not_found", message);
  }
}

/** Prints one memory whole. */
export async function get(session: Session): Promise<void> {
  const client = clientOf(session);
  const version = numberOf(session.line, "version");
  const id = await wholeId(session, client, onlyWord(session));
  const call = client.memory(id, { version });
  const memory = version === undefined
    ? await about(session, id, call)
    : await ofVersion(session, id, version, call);
  const text = printable(memory.text ?? withoutText(memory));
  const { dim } = paintFor(session.io);
  const below = [factsOf(memory), ...tiesOf(memory)].map((fact) => `${dim(fact)}\n`);
  print(session, memory, `${text}\n${below.join("")}`);
}

/** Prints every version of a memory, newest first. */
export async function history(session: Session): Promise<void> {
  const { line, io } = session;
  const client = clientOf(session);
  const id = await wholeId(session, client, onlyWord(session));
  const newest = await about(session, id, client.memory(id));
  const wanted = newest.versions.slice(0, line.limit ?? VERSIONS);
  const shown = [];
  for (const { version, created_at } of wanted) {
    const { text, text_error, source } = version === newest.version
      ? newest
      : await ofVersion(session, id, version, client.memory(id, { version }));
    shown.push({ version, created_at, text, text_error, source });
  }
  const rows = shown.map((one): Cell[] => [
    String(one.version),
    { dim: when(one.created_at) },
    one.text ?? withoutText(one),
  ]);
  print(session, { memory_id: id, versions: shown }, columns(rows, paintFor(io), io));
  const left = newest.versions.length - shown.length;
  if (left > 0 && !line.json) io.writeError(`${left} earlier versions are not shown (--limit).\n`);
}

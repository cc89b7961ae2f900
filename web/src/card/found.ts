import { isMembers, type Members } from "./host.ts";

/** A memory as a card shows it; all of it was written by others. */
export interface FoundMemory {
  readonly id: string;
  readonly text: string;
  /** What is known of it besides, in words. */
  readonly facts: readonly string[];
}

/** What a result of `svc_recall` or `svc_list` has to show. */
export interface Found {
  readonly memories: readonly FoundMemory[];
  /** What hardly fits. */
  readonly nearest: readonly FoundMemory[];
  /** What is said besides. */
  readonly message: string;
  /** Whether the key may correct and forget; `undefined` where nobody said so. */
  readonly mayManage: boolean | undefined;
}

const textOf = (value: unknown): string => typeof value === "string" ? value : "";

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** Why it is here and who wrote it, in words. */
function factsOf(memory: Members): string[] {
  const { date, written_by, namespace, score, confidence, older } = memory;
  return [
    textOf(date),
    textOf(written_by) && `by ${textOf(written_by)}`,
    textOf(namespace) && `in ${textOf(namespace)}`,
    typeof score === "number" ? `score ${score}` : "",
    typeof confidence === "number" ? `fits ${percent(confidence)}` : "",
    older === true ? "older: one above says otherwise" : "",
  ].filter((fact) => fact !== "");
}

function memoriesIn(value: unknown): FoundMemory[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isMembers).map((memory) => ({
    id: textOf(memory.memory_id),
    text: textOf(memory.text) || "(encrypted by the app that saved it)",
    facts: factsOf(memory),
  }));
}

/** The first text of a result, for when there is no data to show. */
export function saidIn({ content }: Members): string {
  const [first] = Array.isArray(content) ? content : [];
  return isMembers(first) ? textOf(first.text) : "";
}

/** What a result has to show. */
export function foundIn(result: Members): Found {
  const { structuredContent: data, _meta: meta, isError } = result;
  const may = isMembers(meta) ? meta["svc/may-manage"] : undefined;
  const mayManage = typeof may === "boolean" ? may : undefined;
  if (!isMembers(data) || isError === true) {
    return { memories: [], nearest: [], message: saidIn(result), mayManage };
  }
  const memories = memoriesIn(data.results ?? data.memories);
  const nearest = memoriesIn(data.nearest);
  const message = textOf(data.message) || (memories.length === 0 ? "Nothing was found." : "");
  return { memories, nearest, message, mayManage };
}

import type { Fact } from "../extract/facts.ts";
import { HIGH, LOW, MEDIUM } from "../extract/score.ts";

/** Longest fact that is taken, in characters. */
const MOST_CHARACTERS = 600;
/** Longest answer that is read, in characters, and how many of its brackets are tried. */
const MOST_READ = 256 * 1024;
const MOST_TRIED = 200;
const CONTROL = /\p{Cc}/gu;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function importanceOf(value: unknown): number {
  if (value === "high") return HIGH;
  if (value === "low") return LOW;
  if (typeof value !== "number") return MEDIUM;
  return value >= 0.7 ? HIGH : value <= 0.35 ? LOW : MEDIUM;
}

/** A fact of an answer; `undefined` for anything else. */
function factOf(item: unknown): Fact | undefined {
  const said = isObject(item) ? item["text"] ?? item["fact"] : item;
  if (typeof said !== "string" || !said.isWellFormed()) return undefined;
  const text = said.replace(/\s+/g, " ").replace(CONTROL, "").trim();
  if (text === "" || text.length > MOST_CHARACTERS) return undefined;
  return { text, importance: importanceOf(isObject(item) ? item["importance"] : undefined) };
}

/** Where the object or list that starts at `start` ends; -1 when it does not. */
function endOf(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character === "\\") i++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return i + 1;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): readonly unknown[] | undefined {
  if (isObject(value) && Array.isArray(value["facts"])) return value["facts"];
  const isList = Array.isArray(value) &&
    (value.length === 0 || value.some((item) => factOf(item) !== undefined));
  return isList ? value : undefined;
}

/**
 * Facts of a model's answer. JSON may stand in a code fence or between other words, and an answer
 * that breaks off gives the facts before the break; items that are no facts are left out.
 *
 * @returns at most `most` facts; `undefined` when the answer has no such JSON.
 */
export function factsOfAnswer(answer: string, most: number): Fact[] | undefined {
  const text = answer.replace(/^\s*<think>[\s\S]*?<\/think>/, "").slice(0, MOST_READ);
  const single: Fact[] = [];
  let tried = 0;
  for (let at = 0; at < text.length && tried < MOST_TRIED; at++) {
    if (text[at] !== "{" && text[at] !== "[") continue;
    tried++;
    const end = endOf(text, at);
    const value = end === -1 ? undefined : parse(text.slice(at, end));
    if (value === undefined) continue;
    const list = listOf(value);
    if (list !== undefined) {
      return list.flatMap((item) => factOf(item) ?? []).slice(0, most);
    }
    const fact = isObject(value) ? factOf(value) : undefined;
    if (fact !== undefined) single.push(fact);
    at = end - 1;
  }
  return single.length === 0 ? undefined : single.slice(0, most);
}

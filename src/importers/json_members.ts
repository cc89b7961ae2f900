/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object that is no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of a value, if the value is an object that has it itself: never one of a prototype. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A member that is a text; anything else counts as absent. */
export function textOf(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : undefined;
}

/** A member that is a list; anything else counts as absent. */
export function listOf(value: unknown, name: string): readonly unknown[] | undefined {
  const member = memberOf(value, name);
  return Array.isArray(member) ? member : undefined;
}

/** The value of a JSON text; `undefined`, which JSON does not have, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const PLAIN_KEY = /^[\w-]{1,64}$/;

/**
 * How a member is named in a report: `.name`, or its number where the name is not plainly an id,
 * because whatever else stands there might be a text of somebody.
 */
export function stepTo(key: string, position: number): string {
  return PLAIN_KEY.test(key) ? `.${key}` : `[${position}]`;
}

/** A header's name (RFC 9110, 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What no header's value may hold. */
const FORBIDDEN = /[\r\n\0]/;

function check(name: string, value: string): void {
  if (!NAME.test(name) || FORBIDDEN.test(value)) throw new TypeError("This is no header");
}

/**
 * One header of a head.
 *
 * @throws {TypeError} for what is no name, and for a value that could hold lines of its own.
 */
export function headerLine(name: string, value: string): string {
  check(name, value);
  return `${name}: ${value}\r\n`;
}

/** A value without spaces and tabs around it; `trim` would also drop bytes of UTF-8 texts. */
function bare(value: string): string {
  let start = 0;
  let end = value.length;
  while (isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

const isBlank = (unit: number): boolean => unit === 32 || unit === 9;

/**
 * Headers of a message between relayer and sidecar. The platform's `Headers` compares each name with
 * all before it, and copies itself into every request and response: a tool call passes four messages.
 */
export class WireHeaders {
  readonly #values = new Map<string, string>();

  /**
   * The lines of a head, without its first.
   *
   * @throws {TypeError} when one is no header.
   */
  static parse(lines: readonly string[]): WireHeaders {
    const headers = new WireHeaders();
    for (const line of lines) {
      const colon = line.indexOf(":");
      if (colon < 0) throw new TypeError("A line of the head is no header");
      headers.append(line.slice(0, colon), line.slice(colon + 1));
    }
    return headers;
  }

  /**
   * Adds a header; one with the same name goes on behind a comma.
   *
   * @throws {TypeError} for what is no name, and for a value that could hold lines of its own.
   */
  append(name: string, value: string): void {
    check(name, value);
    const key = name.toLowerCase();
    const given = bare(value);
    const before = this.#values.get(key);
    this.#values.set(key, before === undefined ? given : `${before}, ${given}`);
  }

  /** The value of a header, by its lower-case name. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Names in lower case, and values. */
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#values.entries();
  }
}

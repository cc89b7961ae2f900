const encoder = new TextEncoder();

/** Bytes to look for, and what they are. */
export interface Needle {
  /** What it is, for the report; never the secret itself. */
  readonly name: string;
  /** At least six bytes. */
  readonly bytes: Uint8Array;
}

function utf16(text: string, littleEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), littleEndian);
  return new Uint8Array(view.buffer);
}

/** What base64 makes of the bytes wherever they stand in a longer run. */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const shifted = new Uint8Array(offset + bytes.length);
    shifted.set(bytes, offset);
    const text = shifted.toBase64({ omitPadding: true });
    // The first and the last characters also depend on the neighbours.
    return text.slice(Math.ceil(offset * 8 / 6), shifted.length % 3 === 0 ? undefined : -1);
  });
}

/** Every spelling of some secret bytes. */
export function spellings(name: string, bytes: Uint8Array): Needle[] {
  const hex = bytes.toHex();
  const texts = [hex, hex.toUpperCase(), ...base64Cores(bytes)];
  for (const core of base64Cores(bytes)) {
    const url = core.replaceAll("+", "-").replaceAll("/", "_");
    if (url !== core) texts.push(url);
  }
  return [
    { name, bytes },
    ...texts.flatMap((text) => [
      { name, bytes: encoder.encode(text) },
      { name, bytes: utf16(text, true) },
      { name, bytes: utf16(text, false) },
    ]),
  ];
}

/** Every spelling of a secret text. */
export function textSpellings(name: string, text: string): Needle[] {
  return [
    ...spellings(name, encoder.encode(text)),
    { name, bytes: utf16(text, true) },
    { name, bytes: utf16(text, false) },
  ];
}

/** Every spelling of a secret that is written as hex or as bytes. */
export function hexSpellings(name: string, hex: string): Needle[] {
  return [...spellings(name, Uint8Array.fromHex(hex)), ...textSpellings(name, hex)];
}

/** Looks for many needles at once: three bytes decide whether six, and then all, are compared. */
export class Haystack {
  readonly #starts = new Uint8Array(1 << 21);
  readonly #bySix = new Map<number, Needle[]>();

  /** Prepares a search. */
  constructor(needles: readonly Needle[]) {
    for (const needle of needles) {
      const start = three(needle.bytes, 0);
      this.#starts[start >> 3]! |= 1 << (start & 7);
      const key = six(needle.bytes, 0);
      const same = this.#bySix.get(key);
      if (same === undefined) this.#bySix.set(key, [needle]);
      else same.push(needle);
    }
  }

  /** Names of the needles that are in the bytes. */
  find(bytes: Uint8Array): Set<string> {
    const found = new Set<string>();
    for (let at = 0; at + 6 <= bytes.length; at++) {
      const start = three(bytes, at);
      if ((this.#starts[start >> 3]! & (1 << (start & 7))) === 0) continue;
      for (const needle of this.#bySix.get(six(bytes, at)) ?? []) {
        if (needle.bytes.every((byte, i) => bytes[at + i] === byte)) found.add(needle.name);
      }
    }
    return found;
  }
}

function three(bytes: Uint8Array, at: number): number {
  return bytes[at]! << 16 | bytes[at + 1]! << 8 | bytes[at + 2]!;
}

function six(bytes: Uint8Array, at: number): number {
  return three(bytes, at) * 0x1000000 + three(bytes, at + 3);
}

/** Looks through every file below a folder; answers `needle in file` for each that is found. */
export async function scanFolder(folder: string, haystack: Haystack): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await scanFolder(path, haystack));
    if (!isFile) continue;
    for (const needle of haystack.find(await Deno.readFile(path))) {
      found.push(`${needle} in ${path}`);
    }
  }
  return found;
}

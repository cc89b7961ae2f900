/** An object as a list names it. */
export interface ListedObject {
  readonly name: string;
  /** Size in bytes. */
  readonly bytes: number;
}

/** One page of a list. */
export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** What the next page is asked with; absent on the last one. */
  readonly next?: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** The text of the only element of a name, or `undefined`. */
function textOf(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text?.replace(/&(?:(\w+)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (whole, name, number, hex) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = hex === undefined ? Number(number) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

/** The code in the body of an answer that says no; `undefined` where there is none. */
export function errorCode(xml: string): string | undefined {
  if (!/<Error[\s>]/.test(xml)) return undefined;
  const code = textOf(xml, "Code");
  return code !== undefined && /^\w{1,64}$/.test(code) ? code : undefined;
}

/**
 * A page of a list of objects. Names of ours need nothing more of XML than this reads.
 *
 * @throws {RangeError} for what is no such page.
 */
export function listedPage(xml: string): ListedPage {
  const refused = () => new RangeError("This is no list of objects");
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.includes("</ListBucketResult>")) throw refused();
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, content = ""]) => {
    const name = textOf(content, "Key");
    const bytes = textOf(content, "Size");
    if (name === undefined || bytes === undefined || !/^\d{1,15}$/.test(bytes)) throw refused();
    return { name, bytes: Number(bytes) };
  });
  const rest = xml.replaceAll(/<Contents>.*?<\/Contents>/gs, "");
  const isTruncated = textOf(rest, "IsTruncated");
  if (isTruncated === "false") return { objects };
  const next = textOf(rest, "NextContinuationToken");
  if (isTruncated !== "true" || next === undefined || next === "") throw refused();
  return { objects, next };
}

/**
 * Whether a bucket keeps what is deleted or replaced, or did so once; `undefined` for what says
 * nothing about it.
 */
export function keepsVersions(xml: string): boolean | undefined {
  if (!/<VersioningConfiguration[\s/>]/.test(xml)) return undefined;
  return textOf(xml, "Status") !== undefined;
}

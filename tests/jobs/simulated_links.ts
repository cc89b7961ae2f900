import assert from "node:assert/strict";
import type { IndexEntry, MemoryLink } from "../../src/interfaces/mod.ts";
import type { AcceptedJob } from "../../src/jobs/job.ts";

const KEYS = ["me/home city", "me/job"];
const YEAR_MS = 31_536_000_000;

/** What a client says of a memory's standing; times are milliseconds since the epoch. */
export interface Said {
  readonly key: string | null;
  readonly validTo: number | null;
  readonly supersedes: readonly string[] | null;
}

/** What is said where nothing is. */
export const NOTHING_SAID: Said = { key: null, validTo: null, supersedes: null };

/** A memory as a list has it, with what was said of it. */
interface Listed {
  readonly id: string;
  readonly text: string;
  /** Memories whose place its row says that it takes. */
  readonly named: readonly string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What each text was said with, and which memories count by that. */
export class SaidLinks {
  readonly #byText = new Map<string, Said>();
  readonly #random: () => number;
  /** Ids that memories had before they were imported under others. */
  readonly #origins = new Map<string, string>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Says something of a text that was never written. */
  say(text: string, ids: readonly string[], now: number): Said {
    const random = this.#random;
    const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)];
    const other = random() < 0.4 ? pick(ids) : undefined;
    const said: Said = {
      key: random() < 0.3 ? pick(KEYS)! : null,
      validTo: random() < 0.2 ? now + Math.floor((random() - 0.5) * YEAR_MS) : null,
      supersedes: other === undefined ? null : [other],
    };
    this.#byText.set(text, said);
    return said;
  }

  /** A memory is imported under another id; what ties others of the import to it may follow. */
  moved(from: string, to: string): void {
    this.#origins.set(to, this.#originOf(from));
  }

  readonly #originOf = (id: string): string => this.#origins.get(id) ?? id;

  /** Checks that a job was accepted with what its text was said with. */
  checkJob(text: string, { standing }: AcceptedJob, isImported: boolean): void {
    const said = this.#byText.get(text) ?? NOTHING_SAID;
    const links = standing?.links?.map(({ id }) => id) ?? null;
    const accepted = [standing?.validTo ?? null, links];
    // The links of an import are in its payload, which is sealed.
    const given = [said.validTo, isImported ? null : said.supersedes];
    assert.deepEqual(accepted, given, `${text} was accepted otherwise`);
  }

  /** Checks what an export says of a memory. */
  checkLine(
    text: string,
    line: {
      readonly key?: string;
      readonly valid_to?: string;
      readonly links?: readonly MemoryLink[];
    },
  ): void {
    const said = this.#byText.get(text) ?? NOTHING_SAID;
    const exported: Said = {
      key: line.key ?? null,
      validTo: line.valid_to === undefined ? null : Date.parse(line.valid_to),
      supersedes: line.links?.map(({ id }) => this.#originOf(id)) ?? null,
    };
    const supersedes = said.supersedes?.map(this.#originOf) ?? null;
    assert.deepEqual(exported, { ...said, supersedes }, `${text} is exported otherwise`);
  }

  /** Checks a row that may be of one of some texts. */
  checkRow({ id, standing = {} }: IndexEntry, texts: readonly string[]): void {
    const { links, validTo = null, keyDigest } = standing;
    const firstOf = (ids: readonly string[] = []) => ids[0] && this.#originOf(ids[0]);
    const isSaid = texts.some((text) => {
      const said = this.#byText.get(text) ?? NOTHING_SAID;
      return validTo === said.validTo && (keyDigest !== undefined) === (said.key !== null) &&
        firstOf(links?.map((link) => link.id)) === firstOf(said.supersedes ?? []);
    });
    assert.ok(isSaid, `the row of ${id} says something else`);
  }

  /** Checks that of all memories of a namespace those are present that are not over. */
  checkPresent(all: readonly Listed[], present: readonly string[], now: number): void {
    const memories = all.map((one, i) => ({
      ...one,
      i,
      ...this.#byText.get(one.text) ?? NOTHING_SAID,
    }));
    // A text's number is when it is said to have happened.
    const numberOf = (text: string) => Number(text.split(" ")[1]);
    const isNewer = (a: Listed, b: Listed): boolean => {
      const gap = numberOf(a.text) - numberOf(b.text) || a.createdAt - b.createdAt;
      return gap === 0 ? a.id > b.id : gap > 0;
    };
    const names = (one: Listed, id: string) => one.named.includes(id);
    type One = (typeof memories)[number];
    const writtenLast = (some: readonly One[]) =>
      some.toSorted((a, b) => a.updatedAt - b.updatedAt || (a.id > b.id ? 1 : -1)).at(-1);
    const taking = (memory: One): One[] =>
      memories.filter((other) => {
        if (other.i === memory.i) return false;
        if (memory.key !== null && memory.key === other.key && isNewer(other, memory)) return true;
        if (!names(other, memory.id)) return false;
        return !names(memory, other.id) || writtenLast([memory, other]) === other;
      }).sort((a, b) => isNewer(a, b) ? -1 : 1);
    /** What took the places one after the other, from what took that of one to its end or the first again. */
    const way = (memory: One): One[] => {
      const found: One[] = [];
      for (let at = taking(memory)[0]; at && !found.includes(at); at = taking(at)[0]) {
        found.push(at);
      }
      return found;
    };
    const isOver = (memory: One): boolean => {
      const circle = way(memory);
      if (!circle.includes(memory) || writtenLast(circle) !== memory) return circle.length > 0;
      return taking(memory).some((other) => ![other, ...way(other)].includes(memory));
    };
    const expected = memories.filter((memory) =>
      (memory.validTo === null || memory.validTo > now) && !isOver(memory)
    );
    assert.deepEqual(present.toSorted(), expected.map(({ id }) => id).sort(), "what is present");
  }
}

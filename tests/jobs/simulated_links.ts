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
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** What each text was said with, and which memories count by that. */
export class SaidLinks {
  readonly #byText = new Map<string, Said>();
  readonly #random: () => number;

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

  /** Checks that a job was accepted with what its text was said with. */
  checkJob(text: string, { standing }: AcceptedJob): void {
    const said = this.#byText.get(text) ?? NOTHING_SAID;
    const links = standing?.links?.map(({ id }) => id) ?? null;
    const accepted = [standing?.validTo ?? null, links];
    assert.deepEqual(accepted, [said.validTo, said.supersedes], `${text} was accepted otherwise`);
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
      supersedes: line.links?.map(({ id }) => id) ?? null,
    };
    assert.deepEqual(exported, said, `${text} is exported otherwise`);
  }

  /** Checks a row that may be of one of some texts. */
  checkRow({ id, standing = {} }: IndexEntry, texts: readonly string[]): void {
    const { links, validTo = null, keyDigest } = standing;
    const isSaid = texts.some((text) => {
      const said = this.#byText.get(text) ?? NOTHING_SAID;
      return validTo === said.validTo && (keyDigest !== undefined) === (said.key !== null) &&
        (links?.[0]?.id ?? null) === (said.supersedes?.[0] ?? null);
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
    const numberOf = (text: string) => Number(text.split(" ")[1]);
    const names = (one: Said, id: string) => one.supersedes?.includes(id) === true;
    const expected = memories.filter((memory) => {
      if (memory.validTo !== null && memory.validTo <= now) return false;
      return !memories.some((other) => {
        if (other.i === memory.i) return false;
        const isSameKey = memory.key !== null && memory.key === other.key;
        // A text's number is when it is said to have happened.
        if (isSameKey && numberOf(other.text) > numberOf(memory.text)) return true;
        if (!names(other, memory.id)) return false;
        const gap = other.updatedAt - memory.updatedAt;
        return !names(memory, other.id) || gap > 0 || (gap === 0 && other.id > memory.id);
      });
    });
    assert.deepEqual(present.toSorted(), expected.map(({ id }) => id).sort(), "what is present");
  }
}

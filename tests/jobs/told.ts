import assert from "node:assert/strict";
import type { AcceptedJob, EndedJob, LiveJob } from "../../src/jobs/job.ts";
import type { SaidLinks } from "./simulated_links.ts";
import type { World } from "./simulated_world.ts";

/** A job that writes a version of a memory. */
interface Writing {
  readonly job: string;
  readonly version: number;
  readonly text: string;
  /** Whether its 202 arrived. */
  answered: boolean;
}

/** What clients were told of one memory. */
interface Told {
  readonly id: string;
  readonly namespace: string;
  readonly writings: Writing[];
  /** Versions that accepted changes expected to be the newest. */
  readonly expected: Set<number>;
  /** The highest version that an answer showed. */
  seen: number;
  /** Whether somebody asked to delete it: from then on it may be missing. */
  asked: boolean;
  /** Whether the answer to that arrived: from then on it must be missing. */
  gone: boolean;
  /** Whether the index lost its row: it may be missing until it is seen again. */
  lost: boolean;
  /** How often somebody asked to bring it back: what a forget answers then was before or behind it. */
  broughtBack: number;
}

/** What a read that begins now has to find. */
export interface Bounds {
  readonly namespaces: readonly string[];
  /** The lowest version of each memory that may be found; 0 where none has to be. */
  readonly floors: ReadonlyMap<string, number>;
  readonly gone: ReadonlySet<string>;
  /** Unfinished jobs. */
  readonly live: readonly LiveJob[];
}

/** One memory in an answer. */
export interface Found {
  readonly id: string;
  /** Absent where the answer says why it has none. */
  readonly text?: string | undefined;
  readonly version?: number | undefined;
}

/** How an answer came about. */
export interface Answer {
  /** Whether it waited for the jobs that were unfinished when it began. */
  readonly waited: boolean;
  /** How many memories it may lack. */
  readonly missing: number;
  /** Whether later answers must have what it has: rows are written before they are recallable. */
  readonly shows: boolean;
}

/** What was accepted, deleted and seen, as the clients know it. */
export class Clients {
  /** What texts were said with, where clients say more than texts. */
  readonly said: SaidLinks | undefined;
  /** Calls that were refused for good: what they were to read is damaged, as far as is known. */
  refused = 0;
  readonly #world: World;
  readonly #told = new Map<string, Told>();
  /** Texts by their number, which is when each is said to have happened. */
  readonly #texts: string[] = [];
  /** Namespaces that are being forgotten, as often as they are. */
  readonly #forgetting: string[] = [];

  constructor(world: World, said: SaidLinks | undefined) {
    this.#world = world;
    this.said = said;
  }

  /** A text that was never written, and its number. */
  newText(large: boolean): { readonly text: string; readonly occurredAt: number } {
    const occurredAt = this.#texts.length;
    const text = `memory ${occurredAt}${large ? " x".repeat(10_000) : ""}`;
    this.#texts.push(text);
    return { text, occurredAt };
  }

  get ids(): string[] {
    return [...this.#told.keys()];
  }

  get all(): readonly Told[] {
    return [...this.#told.values()];
  }

  of(id: string): Told | undefined {
    return this.#told.get(id);
  }

  /** A job that is about to be accepted; answers what to call when it was. */
  accepting(accepted: AcceptedJob, isImported = false): () => void {
    const { id: job, memoryId: id, version, namespace, occurredAt } = accepted;
    const text = this.#texts[occurredAt!]!;
    this.said?.checkJob(text, accepted, isImported);
    const told = this.#told.getOrInsertComputed(id, () => {
      const asked = this.#forgetting.includes(namespace);
      return {
        id,
        namespace,
        writings: [],
        expected: new Set(),
        seen: 0,
        asked,
        gone: false,
        lost: false,
        broughtBack: 0,
      };
    });
    assert.equal(told.namespace, namespace, `${id} is in two namespaces`);
    const writing: Writing = { job, version, text, answered: false };
    told.writings.push(writing);
    return () => writing.answered = true;
  }

  /** The newest version that a client knows of. */
  newestOf(id: string): number {
    const known = this.#told.get(id)!.writings.filter(({ answered }) => answered);
    return Math.max(1, ...known.map(({ version }) => version));
  }

  /** A change was accepted that expected a version to be the newest. */
  changed(id: string, expected: number): void {
    const told = this.#told.get(id)!;
    assert.ok(told.lost || !told.expected.has(expected), `${id} was changed twice at ${expected}`);
    told.expected.add(expected);
  }

  /** A deletion was done that expected a version to be the newest. */
  deletedAt(id: string, expected: number): void {
    const { lost, writings } = this.#told.get(id)!;
    const later = writings.filter(({ answered, version }) => answered && version > expected);
    assert.ok(lost || later.length === 0, `${id} was deleted at ${expected}, and had a later one`);
  }

  /** Somebody asks to delete a memory; answers what to call when it is deleted. */
  deleting(id: string): () => void {
    const told = this.#told.get(id)!;
    told.asked = true;
    return () => told.gone = true;
  }

  /** Somebody asks to forget a namespace. */
  forgetting(namespace: string): { readonly done: () => void; readonly over: () => void } {
    const here = this.all.filter((told) => told.namespace === namespace);
    for (const told of here) told.asked = true;
    const accepted = here.filter(({ writings }) => writings.some(({ answered }) => answered))
      .map((told) => ({ told, broughtBack: told.broughtBack }));
    this.#forgetting.push(namespace);
    return {
      done: () => {
        for (const { told, broughtBack } of accepted) {
          if (told.broughtBack === broughtBack) told.gone = true;
        }
      },
      over: () => {
        this.#forgetting.splice(this.#forgetting.indexOf(namespace), 1);
      },
    };
  }

  /** The process ended: whatever it was asked is over. */
  crashed(): void {
    this.#forgetting.length = 0;
  }

  /** Checks that a version may be imported under another id: where it was is something else. */
  checkBeside(id: string, version: number, text: string): void {
    const { writings, lost } = this.#told.get(id)!;
    const isOther = writings.some((one) => one.version === version && one.text !== text);
    assert.ok(lost || isOther, `version ${version} of ${id} is imported beside itself`);
  }

  /** The index lost the rows of a namespace. */
  lost(namespace: string): void {
    for (const told of this.#told.values()) {
      if (told.namespace === namespace) Object.assign(told, { lost: true, seen: 0 });
    }
  }

  /** A memory that was forgotten, without being named, is imported again. */
  broughtBack(id: string): void {
    const told = this.#told.get(id);
    if (told === undefined) return;
    told.broughtBack++;
    if (told.gone) Object.assign(told, { gone: false, lost: true, seen: 0 });
  }

  /** What a read that begins now has to find; `live` are the unfinished jobs. */
  bounds(namespaces: readonly string[], live: readonly LiveJob[]): Bounds {
    const own = live.filter(({ job }) => namespaces.includes(job.namespace));
    const recallable = new Set(own.filter((one) => one.recallable).map(({ job }) => job.id));
    const here = this.all.filter((told) => namespaces.includes(told.namespace));
    const floors = new Map(here.map((told) => [told.id, this.#floorOf(told, recallable)]));
    const gone = new Set(here.filter((told) => told.gone).map(({ id }) => id));
    return { namespaces, floors, gone, live: own };
  }

  #floorOf({ writings, seen, lost }: Told, recallable: ReadonlySet<string>): number {
    if (lost) return seen;
    const there = writings.filter(({ job }) => {
      const row = this.#world.table.rows.get(JSON.stringify(["job", job]));
      return recallable.has(job) || (row?.value as EndedJob | undefined)?.recallable;
    });
    return Math.max(seen, ...there.map(({ version }) => version));
  }

  /** Checks what an answer has. */
  check(found: readonly Found[], bounds: Bounds, { waited, missing, shows }: Answer): void {
    const floors = new Map(bounds.floors);
    for (const { job: { memoryId: id, version }, recallable } of waited ? bounds.live : []) {
      const told = this.#told.get(id);
      if (recallable && !told?.lost) floors.set(id, Math.max(version, floors.get(id) ?? 0));
    }
    const ids = new Set(found.map(({ id }) => id));
    assert.equal(ids.size, found.length, `a memory is there twice: ${found.map(({ id }) => id)}`);
    for (const item of found) {
      const version = this.#checkFound(item, bounds, floors.get(item.id) ?? 0);
      const told = this.#told.get(item.id)!;
      if (shows) told.seen = Math.max(told.seen, version);
    }
    const lacking = [...floors].filter(([id, floor]) =>
      floor > 0 && !ids.has(id) && !this.#told.get(id)!.asked
    );
    assert.ok(lacking.length <= missing, `not found: ${lacking.map(([id]) => id)}`);
  }

  #checkFound({ id, text, version }: Found, { namespaces, gone }: Bounds, floor: number): number {
    const told = this.#told.get(id);
    assert.ok(told !== undefined && namespaces.includes(told.namespace), `nobody wrote ${id}`);
    assert.ok(!(gone.has(id) && told.gone), `${id} was deleted and is found`);
    const written = told.writings.find((writing) =>
      text === undefined ? writing.version === version : writing.text === text
    );
    assert.ok(written !== undefined, `nobody wrote version ${version} of ${id}, or its text`);
    assert.equal(version ?? written.version, written.version, `${id} has another version's text`);
    assert.ok(written.version >= floor, `${id} is ${written.version}, not ${floor}`);
    return written.version;
  }

  /** No number was given to two texts of a memory. */
  checkNumbers(): void {
    for (const { id, writings } of this.#told.values()) {
      const accepted = writings.filter(({ job, answered }) =>
        answered || this.#world.table.rows.has(JSON.stringify(["job", job]))
      );
      for (const [version, same] of Map.groupBy(accepted, (writing) => writing.version)) {
        const texts = new Set(same.map(({ text }) => text));
        assert.equal(texts.size, 1, `version ${version} of ${id} was given twice`);
      }
    }
  }
}

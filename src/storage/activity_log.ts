import { BoundedMap } from "../bounded_map.ts";
import { SvcError } from "../errors.ts";
import type { ActivityBounds, ActivityRow, ActivityRows } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";

/** Where a request came from, as far as its address tells; the address itself is not kept. */
export type ActivityFrom = "this_machine" | "private_network" | "internet" | "unknown";

/** What is noted of a request that an account's key or its owner made. */
export interface ActivityEntry {
  readonly accountId: string;
  /** Public key that signed, 64 lower-case hex characters; `owner` where the wallet did. */
  readonly key: string;
  /** Name of the route. */
  readonly action: string;
  /** Namespace that the request names. */
  readonly namespace?: string | undefined;
  /** Through HTTP, through MCP, or by the program that the relayer is a part of. */
  readonly via: "http" | "mcp" | "program";
  readonly from: ActivityFrom;
  /** `ok`, or the code of the error that was answered. */
  readonly outcome: string;
}

/** Equal entries of one minute, or of one day where a key has many; times in milliseconds since the epoch. */
export interface Activity extends Omit<ActivityEntry, "accountId"> {
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Which entries of an account are asked for. */
export interface ActivityQuery {
  /** Of this key alone. */
  readonly key?: string | undefined;
  /** Where an earlier page ended. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface ActivityPage {
  /** Newest first. */
  readonly entries: readonly Activity[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** What rows are sealed and found under. */
interface Key {
  hmac(purpose: string): (data: string) => Uint8Array;
  sealer(purpose: string): Sealer;
}

export interface ActivityOptions {
  readonly table: Omit<ActivityRows, never>;
  readonly key: Key;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told when entries could not be written; they are tried again. */
  readonly logger: { warn(event: string, fields: Readonly<Record<string, string>>): void };
  /** How many entries stay. */
  readonly bounds?: ActivityBounds;
  /** Entries of a key that a day has by the minute; further ones are by the day, without namespace. */
  readonly perDay?: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WRITE_EVERY_MS = 5000;
const PRUNE_EVERY_MS = 3_600_000;
const KEPT_DAYS = 90;
/** Entries in memory: as many are written at once. */
const MAX_HELD = 2000;
const BOUNDS: ActivityBounds = { perHolder: 2000, total: 200_000 };
/** Keys whose entries of the day are counted in memory. */
const MAX_COUNTED = 10_000;
const PER_DAY = 200;

/** An entry that may still be counted up. */
interface Held {
  readonly entry: ActivityEntry;
  /** When it is no longer counted up, milliseconds since the epoch. */
  readonly until: number;
  readonly firstAt: number;
  lastAt: number;
  count: number;
  /** 0 before it was written. */
  id: number;
  isWritten: boolean;
}

/** Equal names: equal entries of the same minute, or day. */
function nameOf(entry: ActivityEntry, now: number, span: number): string {
  const { accountId, key, action, namespace = null, via, from, outcome } = entry;
  const at = Math.floor(now / span);
  return JSON.stringify([span, at, accountId, key, action, namespace, via, from, outcome]);
}

/** What stands for an account, or for a key of it, in rows. */
function nameUnder(hmac: (data: string) => Uint8Array, ...parts: readonly string[]): string {
  return hmac(parts.join(" ")).subarray(0, 16).toHex();
}

/** What stands for an account in rows. */
export function accountInRows(key: Pick<Key, "hmac">, accountId: string): string {
  return nameUnder(key.hmac("activity"), accountId);
}

/** Entries of a key on a day. */
interface Counted {
  readonly day: number;
  entries: number;
  /** Of whose account the key is, as far as that is known. */
  readonly owner: string | undefined;
}

/**
 * What was done with an account and by whom, for its owner to read: never a text, a question or an
 * id of a memory. Equal entries of a minute are one. Who steals a key may want to push out what it
 * did: beyond some entries a day a key's further ones are told by the day. They are written every few
 * seconds and when their owner goes to another relayer, sealed; a relayer that is killed loses those of
 * its last seconds.
 */
export class ActivityLog implements AsyncDisposable {
  readonly #options: ActivityOptions;
  readonly #hmac: (data: string) => Uint8Array;
  readonly #sealer: Sealer;
  readonly #bounds: ActivityBounds;
  readonly #held = new Map<string, Held>();
  /** Entries of a day by account and key. */
  readonly #counted = new BoundedMap<string, Counted>(MAX_COUNTED);
  readonly #timer: ReturnType<typeof setInterval>;
  #writing: Promise<void> | undefined;
  #prunedAt = -Infinity;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.#hmac = options.key.hmac("activity");
    this.#sealer = options.key.sealer("activity");
    this.#bounds = options.bounds ?? BOUNDS;
    this.#timer = setInterval(() => void this.#tryWrite(), WRITE_EVERY_MS);
  }

  /** @param owner Of whose account the entry is; absent where that relayer need not have the owner. */
  note(entry: ActivityEntry, owner?: string): void {
    const now = this.#options.now();
    if (this.#countUp(entry, now, MINUTE_MS)) return;
    const counted = this.#countedOf(entry, Math.floor(now / DAY_MS), owner);
    const { perDay = PER_DAY } = this.#options;
    if (counted.entries < perDay) {
      this.#hold(entry, now, MINUTE_MS);
      counted.entries++;
    } else {
      const { namespace: _, ...less } = entry;
      if (!this.#countUp(less, now, DAY_MS)) this.#hold(less, now, DAY_MS);
    }
  }

  /** Looks again how many entries an owner's keys have: other relayers may have added some. */
  enter(owner: string): void {
    for (const [name, counted] of this.#counted) {
      if (counted.owner === owner) this.#countAgain(name, counted);
    }
  }

  /** Writes what is held, for another relayer to show. */
  settle(): Promise<void> {
    return this.#tryWrite();
  }

  forget(): void {}

  /** Counts an equal entry of the same minute or day up, if there is one. */
  #countUp(entry: ActivityEntry, now: number, span: number): boolean {
    const held = this.#held.get(nameOf(entry, now, span));
    if (held === undefined) return false;
    held.count++;
    held.lastAt = now;
    held.isWritten = false;
    return true;
  }

  #hold(entry: ActivityEntry, now: number, span: number): void {
    if (this.#held.size >= MAX_HELD) {
      void this.#tryWrite();
      this.#held.clear(); // what could not be written is lost
    }
    const until = (Math.floor(now / span) + 1) * span;
    const fresh = { entry, until, firstAt: now, lastAt: now, count: 1, id: 0, isWritten: false };
    this.#held.set(nameOf(entry, now, span), fresh);
  }

  #countedOf({ accountId, key }: ActivityEntry, day: number, owner: string | undefined): Counted {
    const name = `${accountId} ${key}`;
    const known = this.#counted.get(name);
    if (known?.day === day) return known;
    const counted = { day, entries: 0, owner };
    this.#counted.set(name, counted);
    this.#countAgain(name, counted);
    return counted;
  }

  /** Counts entries that an earlier process, or another one, has written on the same day. */
  #countAgain(name: string, counted: Counted): void {
    const found = (entries: number) => void (counted.entries = Math.max(counted.entries, entries));
    try {
      const entries = this.#options.table.countOn(this.#nameOf(name), counted.day);
      if (typeof entries === "number") found(entries);
      // What cannot be read must not refuse requests.
      else entries.then(found, () => {});
    } catch {
      // The same of a file.
    }
  }

  /**
   * Entries of an account, with those not written yet.
   *
   * @throws {SvcError} `invalid_cursor`, `storage_unavailable`.
   */
  async page(accountId: string, { key, cursor, limit }: ActivityQuery): Promise<ActivityPage> {
    const account = this.#nameOf(accountId);
    const holder = key === undefined ? undefined : this.#nameOf(accountId, key);
    const before = cursor === undefined ? undefined : this.#openCursor(account, cursor);
    await this.#write();
    const rows = await this.#options.table.page({ account, holder, before, limit: limit + 1 });
    const entries = together(rows.slice(0, limit).map((row) => this.#opened(row)));
    const last = rows[limit - 1];
    if (rows.length <= limit || last === undefined) return { entries };
    return { entries, nextCursor: this.#sealCursor(account, last.id) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#tryWrite();
  }

  async #tryWrite(): Promise<void> {
    try {
      await this.#write();
      const now = this.#options.now();
      if (now - this.#prunedAt < PRUNE_EVERY_MS) return;
      this.#prunedAt = now;
      await this.#options.table.prune(Math.floor(now / DAY_MS) - KEPT_DAYS, this.#bounds);
    } catch (error) {
      // A full disk must not refuse requests; what is held is tried again.
      this.#options.logger.warn("activity_not_saved", { reason: SvcError.from(error).code });
    }
  }

  async #write(): Promise<void> {
    const waiting = [...this.#held.values()].filter(({ isWritten }) => !isWritten);
    for (const held of waiting) held.isWritten = true;
    const writing = this.#writeAll(waiting, this.#writing);
    this.#writing = writing.catch(() => {});
    await writing;
    const now = this.#options.now();
    for (const [name, { until, isWritten }] of this.#held) {
      if (isWritten && until <= now) this.#held.delete(name);
    }
  }

  /** After the writing before it: what is written again needs its id. */
  async #writeAll(waiting: readonly Held[], before: Promise<void> | undefined): Promise<void> {
    if (before !== undefined) await before;
    if (waiting.length === 0) return;
    try {
      const rows = waiting.map((held) => this.#rowOf(held));
      const ids = await this.#options.table.write(rows, this.#bounds.perHolder);
      waiting.forEach((held, i) => held.id = ids[i] ?? 0);
    } catch (error) {
      for (const held of waiting) held.isWritten = false;
      throw error;
    }
  }

  #nameOf(...parts: string[]): string {
    return nameUnder(this.#hmac, ...parts);
  }

  #rowOf({ entry, firstAt, lastAt, count, id }: Held): ActivityRow {
    const { accountId, ...what } = entry;
    const account = this.#nameOf(accountId);
    const holder = this.#nameOf(accountId, entry.key);
    const plain = new TextEncoder().encode(JSON.stringify({ ...what, count, firstAt, lastAt }));
    const day = Math.floor(firstAt / DAY_MS);
    return { id, account, holder, day, entry: this.#sealer.seal(plain, holder) };
  }

  #opened({ holder, entry }: ActivityRow): Activity {
    return JSON.parse(new TextDecoder().decode(this.#sealer.open(entry, holder)));
  }

  /** Sealed, because ids tell how much everybody does. */
  #sealCursor(account: string, id: number): string {
    const sealed = this.#sealer.seal(new TextEncoder().encode(`${id}`), `after ${account}`);
    return sealed.toBase64({ alphabet: "base64url", omitPadding: true });
  }

  #openCursor(account: string, cursor: string): number {
    try {
      const sealed = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
      return Number(
        new TextDecoder().decode(this.#sealer.open(sealed, `after ${account}`)),
      );
    } catch (cause) {
      throw new SvcError("invalid_cursor", undefined, { cause, field: "cursor" });
    }
  }
}

/** Equal entries of a minute as one, in the place of the newest: several relayers may have one each. */
function together(entries: readonly Activity[]): Activity[] {
  const known = new Map<string, Activity>();
  for (const entry of entries) {
    const { count, firstAt, lastAt, ...what } = entry;
    const name = nameOf({ ...what, accountId: "" }, firstAt, MINUTE_MS);
    const newer = known.get(name);
    const all = newer === undefined ? entry : {
      ...newer,
      count: newer.count + count,
      firstAt: Math.min(newer.firstAt, firstAt),
      lastAt: Math.max(newer.lastAt, lastAt),
    };
    known.set(name, all);
  }
  return [...known.values()];
}

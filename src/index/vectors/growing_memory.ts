import { SvcError } from "../../errors.ts";

/** Reads as zeros without end. */
export const ZEROS = "/dev/zero";

/**
 * Writes zeros to unused memory on another thread, which takes its pages from the system. Once the
 * promise is settled, either way, nothing more is written.
 */
export type Prefault = (memory: Uint8Array) => Promise<void>;

/**
 * Memory is taken from the system page by page when it is first written to: one or two microseconds
 * each, but ten or more where a virtual machine has to ask its host. Reading zeros into it does that
 * on a thread of the pool.
 *
 * @returns `undefined` where that is not possible, or not allowed.
 */
export function openPrefault(): Prefault | undefined {
  if (Deno.build.os === "windows") return undefined;
  // `query`, not `request`: an embedding program must not be asked for a permission.
  const { state } = Deno.permissions.querySync({ name: "read", path: ZEROS });
  if (state !== "granted") return undefined;
  return async (memory) => {
    try {
      using file = await Deno.open(ZEROS);
      for (let at = 0; at < memory.length;) {
        const count = await file.read(memory.subarray(at));
        if (count === null) return;
        at += count;
      }
    } catch {
      // Then the pages come when they are written to.
    }
  };
}

/** Bytes of a page of WebAssembly. */
export const PAGE = 65_536;
/** Bytes the memory grows by at least, so that views are seldom made anew. */
const GROWTH = 2 * 2 ** 20;

/** A part of the memory that another thread takes from the system. */
interface Ahead {
  readonly start: number;
  readonly end: number;
  readonly taken: Promise<void>;
  isTaken: boolean;
}

/** Memory that is cut into pieces from its start on and grows when its end is reached. */
export class GrowingMemory {
  /** The memory; growing detaches the buffers it had before. */
  readonly memory: WebAssembly.Memory;
  readonly #limit: number;
  readonly #prefault: Prefault | undefined;
  /** Pieces are cut from here on, up to the end. */
  #next: number;
  #end: number;
  #ahead: Ahead | undefined;

  /**
   * Makes a memory whose first bytes are somebody else's.
   *
   * @param reserved how many of them, a multiple of {@linkcode PAGE}.
   * @param limit most bytes.
   * @param prefault takes parts of it ahead; absent where nobody can.
   */
  constructor(reserved: number, limit: number, prefault: Prefault | undefined) {
    const maximum = Math.floor(limit / PAGE);
    this.memory = new WebAssembly.Memory({ initial: reserved / PAGE, maximum });
    this.#limit = maximum * PAGE;
    this.#prefault = prefault;
    this.#next = this.#end = reserved;
  }

  get #size(): number {
    return this.memory.buffer.byteLength;
  }

  /**
   * Cuts a piece.
   *
   * @throws {SvcError} `overloaded` when the memory cannot grow further.
   */
  cut(bytes: number): number {
    if (this.#next + bytes > this.#end) this.#extend(bytes);
    const piece = this.#next;
    this.#next += bytes;
    return piece;
  }

  /** To be called before much is cut: takes the next part from the system on another thread. */
  prepare(): void {
    if (this.#prefault === undefined || this.#ahead !== undefined) return;
    const start = this.#size;
    const end = start + GROWTH;
    // Pieces cut meanwhile come from behind it.
    if (end + GROWTH > this.#limit || !this.#grow(GROWTH)) return;
    const bytes = new Uint8Array(this.memory.buffer, start, GROWTH);
    const done = () => {
      ahead.isTaken = true;
    };
    const taken = this.#prefault(bytes).then(done, done);
    const ahead: Ahead = { start, end, taken, isTaken: false };
    this.#ahead = ahead;
  }

  /** Resolves when no other thread writes to the memory. */
  async settled(): Promise<void> {
    await this.#ahead?.taken;
  }

  #extend(bytes: number): void {
    if (this.#ahead?.isTaken && bytes <= GROWTH) {
      const { start, end } = this.#ahead;
      this.#ahead = undefined;
      return this.#goOn(start, end);
    }
    // Another thread may still write to the part ahead: go on behind it.
    const size = this.#size;
    const from = this.#end === size ? this.#next : size;
    const missing = Math.ceil((from + bytes - size) / PAGE) * PAGE;
    const fits = size + missing <= this.#limit;
    if (!fits || !this.#grow(Math.min(this.#limit - size, Math.max(GROWTH, missing)))) {
      throw new SvcError("overloaded");
    }
    this.#goOn(size, this.#size);
  }

  /** Cuts from another part. The rest of the part before is lost unless the two touch. */
  #goOn(start: number, end: number): void {
    if (start !== this.#end) this.#next = start;
    this.#end = end;
  }

  #grow(bytes: number): boolean {
    try {
      this.memory.grow(bytes / PAGE);
      return true;
    } catch {
      return false;
    }
  }
}

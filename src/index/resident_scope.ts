import { SvcError } from "../errors.ts";
import type { BlobLink, IndexEntry, Scope } from "../interfaces/mod.ts";
import type { Arena } from "./vectors/arena.ts";
import {
  bestMemories,
  coverageOf,
  FusedCosts,
  type IndexedMemory,
  keywordScores,
  type Match,
  matchAt,
  nearest,
  type ScopeQuery,
  type SearchOptions,
} from "./ranking.ts";
import { inContext, type Surroundings } from "./evidence.ts";
import { LexicalIndex, type LexicalScores } from "./words/lexical_index.ts";
import { PayloadBytes } from "./payload_bytes.ts";
import { Relations } from "./relations.ts";
import { Sessions } from "./sessions.ts";
import { newProgress } from "./words/words_progress.ts";
import { decodeWords, placed, snapshotWords } from "./words/words_snapshot.ts";
import { ScopeVectors } from "./vectors/scope_vectors.ts";

/** Removed payloads may hold this many bytes of shared buffers, or as many as the others use. */
const SPARE_BYTES = 256 * 1024;
/** So many are looked at where their neighbours count; a right answer is nearly always among them. */
const CANDIDATES = 100;
/** RAM of an entry beside its vectors and payload: the object, its strings, its places in maps. */
const ENTRY_BYTES = 1024;

/**
 * One scope in RAM, as its readers see it. It follows every change until it is evicted; from then on
 * `released` is true, `size` and `bytes` are 0, and every method throws `overloaded`.
 */
export type LoadedScope = Omit<
  ResidentScope,
  "put" | "link" | "remove" | "release" | "forgetWords" | "residentBytes"
>;

/** Matches that are answered with their vectors: what replaces what is looked for among so many. */
const WITH_VECTORS = 12;

/** A loaded scope, with the methods that change it. Slots of the vectors are positions of entries. */
export class ResidentScope {
  readonly scope: Scope;
  readonly progress = newProgress();
  readonly #vectors: ScopeVectors;
  #texts = new LexicalIndex();
  #entries: IndexedMemory[] = [];
  readonly #slots = new Map<string, number>();
  /** How the memories stand to each other. */
  readonly relations = new Relations((id) => this.#entryOf(id));
  readonly #sessions = new Sessions((id) => this.#entryOf(id));
  /** Number of memories by blob; counted on the first question, because recalls never ask. */
  #blobs: Map<string, number> | undefined;
  /** Ids of memories without vectors. */
  readonly #bare = new Set<string>();
  #bytes = 0;
  readonly #payloads = new PayloadBytes();
  /** Key id of the entry put last: most entries share one, so they share the string too. */
  #keyId = "";
  #released = false;

  constructor(scope: Scope, arena: Arena) {
    this.scope = { owner: scope.owner, namespace: scope.namespace };
    this.#vectors = new ScopeVectors(arena);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Sum of `bytes` of the memories. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Estimate of the RAM held, in bytes. */
  get residentBytes(): number {
    return this.#vectors.bytes + this.#texts.bytes + this.#payloads.used +
      this.#payloads.spare + this.#entries.length * ENTRY_BYTES;
  }

  /** Whether the scope was evicted: load it again. */
  get released(): boolean {
    return this.#released;
  }

  get(id: string): IndexedMemory | undefined {
    this.#check();
    return this.#entryOf(id);
  }

  #entryOf(id: string): IndexedMemory | undefined {
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#entries[slot];
  }

  /** Every memory, in no useful order. Later writes change the same array. */
  entries(): readonly IndexedMemory[] {
    this.#check();
    return this.#entries;
  }

  /** Memories without vectors of the present model; no search finds them. */
  withoutVectors(): readonly IndexedMemory[] {
    this.#check();
    return [...this.#bare].map((id) => this.#entries[this.#slots.get(id)!]!);
  }

  hasBlob(blobId: string): boolean {
    return this.countBlob(blobId) > 0;
  }

  countBlob(blobId: string): number {
    this.#check();
    if (this.#blobs === undefined) {
      this.#blobs = new Map();
      for (const memory of this.#entries) countIn(this.#blobs, memory, 1);
    }
    return this.#blobs.get(blobId) ?? 0;
  }

  /**
   * The memories that answer a query best, best first; of equally good ones the newer first, then by
   * id. A search by words finds only memories whose text was set and shares something with the
   * query, at the distance 1 − score.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`, `overloaded`.
   */
  match({ vector, text, known = 1, unread = false }: ScopeQuery, options: SearchOptions): Match[] {
    this.#check();
    const lexical = text === undefined ? undefined : this.#texts.score(text);
    if (vector === undefined) {
      return lexical === undefined ? [] : this.#matchWords(lexical, options);
    }
    const costs = lexical && new FusedCosts(lexical, known, unread);
    const search = this.#comparable(options);
    if (costs === undefined || !options.inContext || this.#isWithoutContext) {
      return bestMemories(this.#entries, this.#vectors, vector, costs, search);
    }
    return this.#matchInContext(vector, costs, search);
  }

  /** Whether nothing here asks anything or was said in a session: then no neighbour says anything. */
  get #isWithoutContext(): boolean {
    return this.#texts.askingShare === 0 && this.#sessions.size === 0;
  }

  #matchInContext(vector: Float32Array, costs: FusedCosts, options: SearchOptions): Match[] {
    const { limit, maxDistance = Infinity, minScore = -Infinity, accept } = options;
    const most = { ...options, limit: Math.max(limit, CANDIDATES) };
    const found = bestMemories(this.#entries, this.#vectors, vector, costs, most);
    const texts = this.#texts;
    const slotOf = ({ id }: IndexedMemory): number => this.#slots.get(id)!;
    const weights = typeof options.inContext === "object" ? options.inContext : undefined;
    const around: Surroundings = {
      askingShare: texts.askingShare,
      asking: (memories) => texts.asking(memories.map(slotOf)),
      words: (memory) => costs.words(slotOf(memory)),
      following: (memory) => this.#sessions.following(memory),
      match: (memory) => {
        const found = matchAt(this.#entries, this.#vectors, costs, slotOf(memory));
        return found.distance < maxDistance && (accept?.(memory) ?? true) ? found : undefined;
      },
    };
    const isEnough = ({ score }: Match) => Math.min(1, Math.max(0, score)) >= minScore;
    const best = inContext(found, around, weights).filter(isEnough).slice(0, limit);
    return best.map((match, i) => {
      const vector = i < WITH_VECTORS ? this.#vectors.vectorOf(slotOf(match.entry)) : undefined;
      return vector === undefined ? match : { ...match, vector };
    });
  }

  /** Memories without vectors are found by their words alone. */
  #comparable(options: SearchOptions): SearchOptions {
    if (this.#bare.size === 0) return options;
    const { accept } = options;
    return {
      ...options,
      accept: (entry) => !this.#bare.has(entry.id) && (accept?.(entry) ?? true),
    };
  }

  #matchWords(lexical: LexicalScores, options: SearchOptions): Match[] {
    const { limit, maxDistance = Infinity } = options;
    const costs = keywordScores(lexical).map((score) => -score);
    const found = nearest(this.#entries, costs, limit, (entry, cost) => {
      return cost < 0 && 1 + cost < maxDistance && (options.accept?.(entry) ?? true);
    });
    return Array.from(found, (slot) => ({
      entry: this.#entries[slot]!,
      distance: 1 + costs[slot]!,
      score: -costs[slot]!,
      coverage: coverageOf(lexical, slot),
      among: this.size,
    }));
  }

  /** Memories whose text is not known here. */
  withoutText(): readonly IndexedMemory[] {
    this.#check();
    if (this.#texts.texts === this.size) return [];
    return this.#entries.filter((_, slot) => !this.#texts.has(slot));
  }

  /** Number of memories whose text is known. */
  get texts(): number {
    return this.#texts.texts;
  }

  /**
   * The texts' words, in records that {@linkcode ResidentScope.takeWords} takes over, made one after
   * the other while the scope may change; `undefined` above `maxBytes`.
   */
  snapshotWords(maxBytes?: number): Iterable<Uint8Array> | undefined {
    this.#check();
    const { state, slots } = this.#texts.save();
    return snapshotWords(state, (document) => this.#entries[slots[document]!]!, maxBytes);
  }

  /**
   * Takes over texts of memories that are here in the same version; their bytes are written to from
   * then on.
   *
   * @returns of how many memories there are words that are not here; `undefined` for bytes of another
   * format or of another analysis.
   */
  takeWords(saved: readonly Uint8Array[]): number | undefined {
    this.#check();
    const found = decodeWords(saved);
    if (found === undefined) return undefined;
    const { slots, unknown } = placed(found, this.#entries, this.#slots);
    try {
      this.#texts.take(found.state, slots);
      return unknown;
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** Sets the text of a memory; another version, an unknown id and a known text are ignored. */
  setText(id: string, version: number, text: string): void {
    this.#check();
    const slot = this.#slots.get(id);
    if (slot === undefined || this.#texts.has(slot)) return;
    if (this.#entries[slot]!.version === version) this.#texts.set(slot, text);
  }

  /** Forgets the text of every memory. */
  forgetWords(): void {
    this.#texts = new LexicalIndex();
    for (let slot = 0; slot < this.size; slot++) this.#texts.add();
  }

  /**
   * Adds or replaces a memory; a lower version than the known one is ignored. A blob known for this
   * version stays known when the entry does not name one.
   * @param payload That of the entry, in a buffer that holds payloads of this scope alone.
   * @throws {SvcError} `dimension_mismatch`, `overloaded`, `internal_error` for another scope's entry;
   * the scope must then be released.
   */
  put(entry: IndexEntry, payload: Uint8Array = compact(entry.payload)): void {
    const { owner, namespace } = this.scope;
    if (entry.owner !== owner || entry.namespace !== namespace) {
      throw new SvcError("internal_error", undefined, { cause: "an entry of another scope" });
    }
    const known = this.get(entry.id);
    if (known !== undefined && known.version > entry.version) return;
    const { vectors, occurredAt, expiresAt, standing } = entry;
    const blobId = entry.blobId ?? (known?.version === entry.version ? known.blobId : undefined);
    // Without spreads, which are slow for thousands of entries. All share one copy of the scope's
    // strings, and no payload keeps a buffer of the vector store alive.
    if (entry.keyId !== this.#keyId) this.#keyId = entry.keyId;
    const memory: { -readonly [Key in keyof IndexedMemory]: IndexedMemory[Key] } = {
      owner,
      namespace,
      id: entry.id,
      version: entry.version,
      payload,
      keyId: this.#keyId,
      createdAt: entry.createdAt,
      updatedAt: entry.updatedAt,
      importance: entry.importance,
      source: entry.source,
      bytes: entry.bytes,
    };
    if (blobId !== undefined) memory.blobId = blobId;
    if (occurredAt !== undefined) memory.occurredAt = occurredAt;
    if (expiresAt !== undefined) memory.expiresAt = expiresAt;
    if (standing !== undefined) memory.standing = standing;
    const slot = this.#slots.get(entry.id);
    if (slot === undefined) {
      this.#vectors.add(vectors);
      this.#texts.add();
      this.#slots.set(entry.id, this.#entries.length);
      this.#entries.push(memory);
    } else {
      this.#vectors.replace(slot, vectors);
      // The same version is the same text.
      if (known?.version !== entry.version) this.#texts.clear(slot);
      this.#count(this.#entries[slot]!, -1);
      this.relations.remove(this.#entries[slot]!);
      this.#sessions.remove(this.#entries[slot]!);
      this.#entries[slot] = memory;
    }
    this.relations.add(memory);
    this.#sessions.add(memory);
    this.#count(memory, 1);
    if (vectors.length === 0) this.#bare.add(entry.id);
    else this.#bare.delete(entry.id);
    if (known !== undefined) this.#compact();
  }

  /** Notes a memory's blob; answers whether this version of the memory is here. */
  link(link: BlobLink): boolean {
    const slot = this.#slots.get(link.id);
    const known = this.get(link.id);
    if (slot === undefined || known?.version !== link.version) return false;
    const linked = { ...known, blobId: link.blobId };
    this.#count(known, -1);
    this.#entries[slot] = linked;
    this.#count(linked, 1);
    return true;
  }

  /** Removes a memory; an unknown id is ignored. */
  remove(id: string): void {
    this.#check();
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#bare.delete(id);
    this.#count(this.#entries[slot]!, -1);
    this.relations.remove(this.#entries[slot]!);
    this.#sessions.remove(this.#entries[slot]!);
    this.#vectors.remove(slot);
    this.#texts.remove(slot);
    const last = this.#entries.pop()!;
    if (slot !== this.#entries.length) {
      this.#entries[slot] = last;
      this.#slots.set(last.id, slot);
    }
    this.#compact();
  }

  release(): void {
    this.#released = true;
    this.#vectors.release();
    this.#texts = new LexicalIndex();
    // A new array: whoever walks the old one keeps what it saw.
    this.#entries = [];
    this.#bytes = 0;
    this.#payloads.clear();
    this.#slots.clear();
    this.#bare.clear();
    this.relations.clear();
    this.#sessions.clear();
    this.#blobs = undefined;
  }

  #check(): void {
    if (this.#released) throw new SvcError("overloaded");
  }

  /** Gives each payload a buffer of its own, once the gaps are larger than what is there. */
  #compact(): void {
    if (this.#payloads.spare <= Math.max(SPARE_BYTES, this.#payloads.used)) return;
    this.#entries = this.#entries.map((memory) => {
      return { ...memory, payload: compact(memory.payload) };
    });
    this.#payloads.clear();
    for (const { payload } of this.#entries) this.#payloads.add(payload);
  }

  #count(memory: IndexedMemory, sign: 1 | -1): void {
    this.#bytes += sign * memory.bytes;
    if (sign === 1) this.#payloads.add(memory.payload);
    else this.#payloads.remove(memory.payload);
    if (this.#blobs !== undefined) countIn(this.#blobs, memory, sign);
  }
}

function countIn(blobs: Map<string, number>, { blobId }: IndexedMemory, sign: 1 | -1): void {
  if (blobId === undefined) return;
  const count = (blobs.get(blobId) ?? 0) + sign;
  if (count === 0) blobs.delete(blobId);
  else blobs.set(blobId, count);
}

/** The bytes in a buffer of their own size. */
function compact(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

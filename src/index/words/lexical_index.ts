import { enlarged } from "../enlarged.ts";
import { asks } from "./asking.ts";
import { eachRun } from "./letter_runs.ts";
import {
  copyInto,
  FREQUENCY_LIMIT,
  hasDocument,
  Postings,
  type PostingsState,
  renumbered,
} from "./postings.ts";
import { isCompounding, knownParts, partOf } from "./compounds.ts";
import { bitOf, type Language, LANGUAGES } from "./languages.ts";
import {
  analysed,
  analysedQuery,
  englishStem,
  hashOf,
  type QueryWord,
  shortNgrams,
  stemIn,
} from "./words.ts";

const NONE = -1;
/** Stands for the question mark of texts that ask; no word is written so. */
const ASKING = hashOf("\u0001?");
/** BM25: how fast repeated words stop counting, and how much longer texts are held back. */
const K1 = 0.9;
const B = 0.4;
/** Characters whose words are indexed: the beginning of a text longer than about 10,000 words. */
const WORD_CHARACTERS = 65_536;
/** Characters whose letter runs and short n-grams are indexed: in longer texts words tell enough. */
const RUN_CHARACTERS = 2048;
/** Removed texts leave the lists once they are more than this, and than half of the others. */
const FEW_GONE = 64;
/** Bytes a text and a slot take beside the postings. */
const DOCUMENT_BYTES = 12;

/** Weight of a run of letters that occurs so often in one text: 1 + ln n. */
const RUN_WEIGHTS = Float64Array.from(
  { length: FREQUENCY_LIMIT + 1 },
  (_, n) => n === 0 ? 0 : 1 + Math.log(n),
);

/** What one more occurrence adds to the square of that weight. */
const RUN_GAINS = RUN_WEIGHTS.map((weight, n) => {
  return n === 0 ? 0 : weight ** 2 - RUN_WEIGHTS[n - 1]! ** 2;
});

/** What the texts of a scope have in common with a query, by slot; overwritten by the next query. */
export interface LexicalScores {
  /** BM25 of the stemmed words. */
  readonly words: Float32Array;
  /** Cosine of the letter runs, 0 to 1. */
  readonly runs: Float32Array;
  /** BM25 of a text of average length that has every word of the query once. */
  readonly fullMatch: number;
}

/** What an index keeps of its texts, by document. */
export interface LexicalState {
  /** Number of words of every document. */
  readonly lengths: Int32Array;
  /** Norm of the letter runs of every document. */
  readonly norms: Float32Array;
  /** Languages of the documents, as bits. */
  readonly languages: number;
  readonly words: PostingsState;
  readonly runs: PostingsState;
}

/** Of the whole process: a query is scored in one go, and nothing in here outlives it. */
const scratch = { postings: new Uint32Array(1024) };
let wordSums = new Float32Array(1024);
let runSums = new Float32Array(1024);

/**
 * Words and letter runs of one scope's texts. Slots are 0 to `size - 1`, kept dense as those of
 * {@linkcode ScopeVectors} are; the text of a slot may be missing. The scores depend on the texts
 * alone, not on the order in which they came.
 */
export class LexicalIndex {
  #words = new Postings();
  #runs = new Postings();
  /** Document of every slot, or none. */
  #documentOf = new Int32Array(16).fill(NONE);
  #size = 0;
  /** Number of words of every document, or none when it is gone; and the norm of its runs. */
  #lengths = new Int32Array(16);
  #norms = new Float32Array(16);
  /** Languages of the texts, as bits; those of removed ones may stay. */
  #languages = 0;
  #documents = 0;
  #gone = 0;
  #totalLength = 0;

  get size(): number {
    return this.#size;
  }

  get texts(): number {
    return this.#documents - this.#gone;
  }

  get bytes(): number {
    return this.#words.bytes + this.#runs.bytes + this.#lengths.length * DOCUMENT_BYTES;
  }

  /** Adds a slot without a text at the end. */
  add(): void {
    if (this.#size === this.#documentOf.length) this.#documentOf = enlarged(this.#documentOf);
    this.#documentOf[this.#size++] = NONE;
  }

  has(slot: number): boolean {
    return this.#documentOf[slot] !== NONE;
  }

  /** Sets the text of a slot that has none. */
  set(slot: number, text: string): void {
    const document = this.#documents++;
    if (document === this.#lengths.length) {
      this.#lengths = enlarged(this.#lengths);
      this.#norms = enlarged(this.#norms);
    }
    this.#documentOf[slot] = document;
    const { plain, language, words: found, parts } = analysed(text.slice(0, WORD_CHARACTERS));
    if (language !== undefined) this.#languages |= bitOf(language);
    for (const word of found) this.#words.add(hashOf(word), document);
    const beginning = plain.slice(0, RUN_CHARACTERS);
    // Short n-grams and parts belong to words already counted: they do not make a text longer.
    for (const ngram of shortNgrams(beginning)) this.#words.add(hashOf(ngram), document);
    for (const part of parts) this.#words.add(hashOf(part), document);
    if (asks(text)) this.#words.add(ASKING, document);
    this.#lengths[document] = found.length;
    this.#totalLength += found.length;
    const runs = this.#runs;
    let squares = 0;
    eachRun(beginning, (hash) => {
      squares += RUN_GAINS[runs.add(hash, document)]!;
    });
    this.#norms[document] = Math.sqrt(squares) || 1;
  }

  /** Postings and lengths, to be copied at once except the pools, and each document's slot. */
  save(): { readonly state: LexicalState; readonly slots: Int32Array } {
    if (this.#gone > 0) this.#compact();
    const slots = new Int32Array(this.#documents);
    for (let slot = 0; slot < this.#size; slot++) {
      const document = this.#documentOf[slot]!;
      if (document !== NONE) slots[document] = slot;
    }
    const state: LexicalState = {
      lengths: this.#lengths.subarray(0, this.#documents),
      norms: this.#norms.subarray(0, this.#documents),
      languages: this.#languages,
      words: this.#words.state,
      runs: this.#runs.state,
    };
    return { state, slots };
  }

  /**
   * Takes over texts of an earlier index, and the arrays of its state.
   *
   * @param slots Slot of every document of the state, -1 for texts that are not here any more;
   * slots whose text is known keep theirs.
   * @throws {RangeError} for a state that cannot be one.
   */
  take(
    { lengths, norms, languages, words: savedWords, runs: savedRuns }: LexicalState,
    slots: Int32Array,
  ): void {
    const taken = lengths.length;
    const count = taken + this.#documents;
    if (norms.length !== taken || slots.length !== taken) throw new RangeError("Not a state");
    const [allWords, allRuns] = [Postings.from(savedWords), Postings.from(savedRuns)];
    // Texts that are here already come after those taken over.
    const numbers = Int32Array.from(
      { length: this.#documents },
      (_, document) => this.#lengths[document] === NONE ? NONE : taken + document,
    );
    copyInto(allWords, this.#words, numbers);
    copyInto(allRuns, this.#runs, numbers);
    const room = Math.max(16, Math.ceil(count * 1.25));
    const [allLengths, allNorms] = [new Int32Array(room), new Float32Array(room)];
    allLengths.set(lengths);
    allNorms.set(norms);
    allLengths.set(this.#lengths.subarray(0, this.#documents), taken);
    allNorms.set(this.#norms.subarray(0, this.#documents), taken);
    for (let slot = 0; slot < this.#size; slot++) {
      if (this.#documentOf[slot] !== NONE) this.#documentOf[slot]! += taken;
    }
    for (let document = 0; document < taken; document++) {
      const slot = slots[document]!;
      if (slot >= 0 && slot < this.#size && this.#documentOf[slot] === NONE) {
        this.#documentOf[slot] = document;
        this.#totalLength += lengths[document]!;
      } else {
        allLengths[document] = NONE;
        this.#gone++;
      }
    }
    [this.#words, this.#runs] = [allWords, allRuns];
    [this.#lengths, this.#norms] = [allLengths, allNorms];
    this.#documents = count;
    this.#languages |= languages;
    if (this.#gone > FEW_GONE && this.#gone * 2 > this.texts) this.#compact();
  }

  /** Forgets the text of a slot. */
  clear(slot: number): void {
    const document = this.#documentOf[slot]!;
    if (document === NONE) return;
    this.#documentOf[slot] = NONE;
    this.#totalLength -= this.#lengths[document]!;
    this.#lengths[document] = NONE;
    this.#gone++;
    if (this.#gone > FEW_GONE && this.#gone * 2 > this.texts) this.#compact();
  }

  /** Removes a slot; the last slot takes its number. */
  remove(slot: number): void {
    this.clear(slot);
    const last = --this.#size;
    this.#documentOf[slot] = this.#documentOf[last]!;
    this.#documentOf[last] = NONE;
  }

  /** Compares every text with a query. */
  score(query: string): LexicalScores {
    const { plain, words } = analysedQuery(query.slice(0, WORD_CHARACTERS));
    const count = this.#documents;
    // The first half holds sums by document, the second by slot; either may be the longer one.
    const room = Math.max(count, this.#size);
    if (wordSums.length < 2 * room) {
      wordSums = new Float32Array(4 * room);
      runSums = new Float32Array(4 * room);
    }
    const half = wordSums.length / 2;
    wordSums.fill(0, 0, count);
    runSums.fill(0, 0, count);
    const fullMatch = this.#sumWords(words);
    this.#sumRuns(plain.slice(0, RUN_CHARACTERS));
    const byWords = wordSums.subarray(half, half + this.#size);
    const byRuns = runSums.subarray(half, half + this.#size);
    for (let slot = 0; slot < this.#size; slot++) {
      const document = this.#documentOf[slot]!;
      byWords[slot] = document === NONE ? 0 : wordSums[document]!;
      byRuns[slot] = document === NONE ? 0 : runSums[document]!;
    }
    return { words: byWords, runs: byRuns, fullMatch };
  }

  /** Whether the texts of some slots ask something; a missing text does not. */
  asking(slots: readonly number[]): boolean[] {
    const count = this.#words.read(ASKING, scratch);
    const { postings } = scratch;
    return slots.map((slot) => {
      const document = this.#documentOf[slot]!;
      return document !== NONE && hasDocument(postings.subarray(0, count), document);
    });
  }

  /** Share of the texts that ask something, 0 to 1. */
  get askingShare(): number {
    return this.texts === 0 ? 0 : this.#living(this.#words.read(ASKING, scratch)) / this.texts;
  }

  /** Adds the BM25 of every document to the sums, and answers that of a full match. */
  #sumWords(words: Iterable<QueryWord>): number {
    let fullMatch = 0;
    for (const word of words) {
      const parts = this.#partsOf(word);
      for (const part of parts.length > 0 ? parts : [word]) fullMatch += this.#sumWord(part);
    }
    return fullMatch;
  }

  /** Adds what one word of a query tells, and answers how much that is. */
  #sumWord(word: QueryWord): number {
    const length = this.#read(this.#formsOf(word));
    const { postings } = scratch;
    const idf = this.#idf(this.#living(length));
    this.#addWord(postings, length, idf);
    return idf;
  }

  /** What a compound consists of that no text has as a whole. */
  #partsOf(word: QueryWord): QueryWord[] {
    const { plain } = word;
    if (plain === undefined || !this.#languagesOfTexts().some(isCompounding)) return [];
    if (this.#read(this.#formsOf(word)) > 0) return [];
    const wordOf = (part: string): QueryWord => ({ stem: englishStem(part), plain: part });
    return knownParts(plain, (part) => this.#read(this.#formsOf(wordOf(part))) > 0).map(wordOf);
  }

  #languagesOfTexts(): readonly Language[] {
    if (this.#languages === 0) return [];
    return LANGUAGES.filter((_, at) => (this.#languages & (1 << at)) !== 0);
  }

  #addWord(postings: Uint32Array, length: number, weight: number): void {
    const average = this.#totalLength / this.texts || 1;
    for (let i = 0; i < length; i++) {
      const document = postings[i]! >>> 8;
      const frequency = postings[i]! & 255;
      const saturation = K1 * (1 - B + B * this.#lengths[document]! / average);
      wordSums[document]! += weight * frequency * (K1 + 1) / (frequency + saturation);
    }
  }

  /** Hashes of a word of a query, as it stands in texts of each of their languages. */
  #formsOf({ stem, plain, written = plain }: QueryWord): readonly number[] {
    if (plain === undefined || written === undefined) return [hashOf(stem)];
    const forms = new Set([stem, englishStem(plain)]);
    for (const language of this.#languagesOfTexts()) {
      const own = stemIn(language, plain, written);
      forms.add(own);
      if (isCompounding(language)) forms.add(partOf(own)).add(partOf(plain));
    }
    return Array.from(forms, hashOf);
  }

  /** Reads the postings of one word in several forms into `scratch`, and answers how many. */
  #read(forms: readonly number[]): number {
    if (forms.length === 1) return this.#words.read(forms[0]!, scratch);
    const all = forms.flatMap((form) => {
      const length = this.#words.read(form, scratch);
      return [...scratch.postings.subarray(0, length)];
    }).sort((a, b) => a - b);
    let count = 0;
    for (const posting of all) {
      const last = count === 0 ? undefined : scratch.postings[count - 1]!;
      // Of a text that has several forms the more frequent one counts: it comes last.
      if (last !== undefined && last >>> 8 === posting >>> 8) count--;
      if (count === scratch.postings.length) scratch.postings = enlarged(scratch.postings);
      scratch.postings[count++] = posting;
    }
    return count;
  }

  /** Makes the sums the cosines of the letter runs; rare runs of the query count more. */
  #sumRuns(query: string): void {
    const sums = runSums;
    const counts = new Map<number, number>();
    eachRun(query, (hash) => counts.set(hash, (counts.get(hash) ?? 0) + 1));
    let squares = 0;
    for (const [hash, count] of counts) {
      const length = this.#runs.read(hash, scratch);
      const { postings } = scratch;
      const weight = RUN_WEIGHTS[Math.min(count, FREQUENCY_LIMIT)]! *
        Math.log(1 + this.texts / Math.max(1, this.#living(length)));
      squares += weight * weight;
      for (let i = 0; i < length; i++) {
        const posting = postings[i]!;
        sums[posting >>> 8]! += weight * RUN_WEIGHTS[posting & 255]!;
      }
    }
    const norm = Math.sqrt(squares) || 1;
    const norms = this.#norms;
    for (let i = 0; i < this.#documents; i++) sums[i]! /= norm * norms[i]!;
  }

  /** How many of the postings just read belong to texts that were not removed. */
  #living(count: number): number {
    if (this.#gone === 0) return count;
    let living = 0;
    for (let i = 0; i < count; i++) {
      if (this.#lengths[scratch.postings[i]! >>> 8] !== NONE) living++;
    }
    return living;
  }

  #idf(documents: number): number {
    return Math.log(1 + (this.texts - documents + 0.5) / (documents + 0.5));
  }

  /** Takes removed texts out of the lists. */
  #compact(): void {
    const numbers = new Int32Array(this.#documents).fill(NONE);
    let next = 0;
    for (let document = 0; document < this.#documents; document++) {
      if (this.#lengths[document] === NONE) continue;
      this.#lengths[next] = this.#lengths[document]!;
      this.#norms[next] = this.#norms[document]!;
      numbers[document] = next++;
    }
    this.#words = renumbered(this.#words, numbers);
    this.#runs = renumbered(this.#runs, numbers);
    for (let slot = 0; slot < this.#size; slot++) {
      const document = this.#documentOf[slot]!;
      if (document !== NONE) this.#documentOf[slot] = numbers[document]!;
    }
    this.#documents = next;
    this.#gone = 0;
  }
}

import { BoundedMap } from "../bounded_map.ts";
import { foreignLanguage } from "../index/words/words.ts";
import type { Embedder } from "../interfaces/mod.ts";

/** Characters that tell the language of a text. */
const TOLD_BY = 2_000;

/**
 * The language of a text that the embedder does not read: a code of ISO 639, or `und` where only the
 * script is known; `undefined` where it reads the text, or nobody can tell.
 */
export function unreadLanguage(
  { languages }: Pick<Embedder, "languages">,
  text: string,
): string | undefined {
  if (languages === undefined) return undefined;
  const language = foreignLanguage(text.slice(0, TOLD_BY));
  return language === undefined || languages.includes(language) ? undefined : language;
}

/** Owners whose languages are remembered, and listeners. */
const OWNERS = 10_000;

/** Texts of a bulk that are looked at: mostly they are of one language. */
const LOOKED_AT = 8;

/** Which languages an owner's memories have that the embedder does not read, while the relayer runs. */
export class UnreadLanguages {
  readonly #embedder: Pick<Embedder, "languages">;
  readonly #seen = new BoundedMap<string, Set<string>>(OWNERS);
  readonly #told = new BoundedMap<string, Set<string>>(OWNERS);

  constructor(embedder: Pick<Embedder, "languages">) {
    this.#embedder = embedder;
  }

  /**
   * The language of an owner's text, where the embedder does not read it and the listener was not told.
   *
   * @param listener Who is told: the owner, or one key that may not know what others wrote.
   */
  tell(owner: string, text: string, listener: string = owner): string | undefined {
    const language = unreadLanguage(this.#embedder, text);
    if (language === undefined) return undefined;
    this.#see(owner, language);
    const told = this.#told.get(listener) ?? new Set();
    if (told.has(language)) return undefined;
    this.#told.set(listener, told.add(language));
    return language;
  }

  /** Notes the languages of texts that are answered without a word about it. */
  note(owner: string, texts: readonly string[]): void {
    for (const text of texts.slice(0, LOOKED_AT)) {
      const language = unreadLanguage(this.#embedder, text);
      if (language !== undefined) this.#see(owner, language);
    }
  }

  /** The languages that were noted of an owner's memories, in order; `undefined` where none was. */
  of(owner: string): string[] | undefined {
    const seen = this.#seen.get(owner);
    return seen && [...seen].sort();
  }

  #see(owner: string, language: string): void {
    const seen = this.#seen.get(owner);
    if (seen?.has(language)) return;
    this.#seen.set(owner, (seen ?? new Set()).add(language));
  }
}

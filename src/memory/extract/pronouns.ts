import { ENGLISH } from "./languages/english.ts";
import type { Statement } from "./statements.ts";

/** Who is meant by a pronoun of a person. */
type Gender = "she" | "he" | "either";

interface Referent {
  /** As it stands in a sentence of its own: `Kofi`, `My sister`, `The dog`. */
  readonly name: string;
  readonly gender: Gender;
}

const SHE =
  "wife|mother|mum|mom|mama|daughter|sister|grandmother|grandma|gran|nan|aunt|niece|girlfriend|landlady";
const HE =
  "husband|father|dad|papa|son|brother|grandfather|granddad|grandpa|uncle|nephew|boyfriend|landlord";
const EITHER =
  "partner|cousin|friend|neighbou?r|boss|colleague|flatmate|roommate|housemate|doctor|dentist|therapist|teacher|vet|dog|puppy|cat|kitten|horse|baby";
const SOMEBODY = new RegExp(
  String
    .raw`(?<![\p{L}\p{N}])(my|our|his|her|the|an?)(?: (?:big|little|older|younger|best|new|old|elder))? (?:(${SHE})|(${HE})|(${EITHER}))(?![\p{L}\p{N}])`,
  "giu",
);
/** A name: capitals inside of a sentence that no preposition of a place stands before. */
const NAMED =
  /(?<=\p{L}[,;]? )(?<!(?:^|\s)(?:in|at|near|to|on|of|the|around|via|a|an|this|every|next|last|until|since) )\p{Lu}\p{Ll}{1,20}(?: \p{Lu}\p{Ll}{1,20})?(?!\p{L})/gu;
const NO_NAME =
  /^(?:I|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August|September|October|November|December|Christmas|Easter|English|German|French|Spanish|Dr|Mr|Mrs|Ms)\b/;
/** Sentences back that a pronoun may reach. */
const REACH = 3;

/** Who a sentence is about; more than one leaves a pronoun open. */
function referentsIn(sentence: string): Referent[] {
  const found = new Map<string, Gender>();
  for (const [whole, owner = "", she, he] of sentence.matchAll(SOMEBODY)) {
    const rest = whole.slice(owner.length);
    const known = /^(?:my|our)$/i.test(owner) ? owner.toLowerCase() : "the";
    const gender = she !== undefined ? "she" : he !== undefined ? "he" : "either";
    if (!/^(?:his|her)$/i.test(owner)) found.set(known + rest.toLowerCase(), gender);
  }
  for (const [name] of sentence.matchAll(NAMED)) {
    if (!NO_NAME.test(name)) found.set(name, "either");
  }
  return [...found].map(([name, gender]) => ({
    name: name.charAt(0).toUpperCase() + name.slice(1),
    gender,
  }));
}

/** The people and animals named last, for English pronouns. */
export class Referents {
  readonly #recent: Referent[][] = [];

  /** Remembers who a sentence names. */
  note(sentence: string): void {
    this.#recent.unshift(referentsIn(sentence));
    this.#recent.length = Math.min(this.#recent.length, REACH);
  }

  /**
   * A sentence with the pronoun at its start replaced by who is meant; undefined where nobody or
   * more than one could be.
   */
  resolve(sentence: string, language: Statement["language"]): string | undefined {
    const match = /^(he|she|his|her)(['’]s)?(?=\s)/i.exec(sentence);
    if (language !== ENGLISH || match === null) return undefined;
    const [whole, pronoun = "", contracted = ""] = match;
    const gender: Gender = /^(?:he|his)$/i.test(pronoun) ? "he" : "she";
    const nearest = this.#recent.find((referents) => referents.length > 0) ?? [];
    const [meant, ...others] = nearest.filter((one) => [gender, "either"].includes(one.gender));
    if (meant === undefined || others.length > 0) return undefined;
    const owns = /^(?:his|her)$/i.test(pronoun) ? "'s" : contracted;
    return `${meant.name}${owns}${sentence.slice(whole.length)}`;
  }
}

/** A query, the fact that answers it, and the topic both are about. */
export interface Pair {
  /** Position of the topic in the file. */
  readonly topic: number;
  /** What is asked. */
  readonly query: string;
  /** What answers it. */
  readonly fact: string;
}

/** Facts made of one template with blanks. */
const VARIANTS = 6;
const BLANK = /\{([^}]+)\}/g;

const read = (name: string): Promise<string> => Deno.readTextFile(new URL(name, import.meta.url));

/** Words that may stand in a blank, by its name. */
function parseWords(text: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    text.trim().split("\n").map((line) => {
      const [name = "", words = ""] = line.split(": ");
      return [name, words.split(" ").map((word) => word.replaceAll("_", " "))];
    }),
  );
}

/**
 * Fills the blanks of a template. `{a|b}` is one of two words; `{city}` and `{city2}` are words of
 * the list `city`; `{City}` begins with a capital letter.
 *
 * @param chosen What the blanks hold; new ones are added.
 */
function filled(
  template: string,
  chosen: Map<string, string>,
  words: ReadonlyMap<string, readonly string[]>,
  random: () => number,
): string {
  const any = (list: readonly string[]): string => list[Math.floor(random() * list.length)]!;
  return template.replaceAll(BLANK, (_, blank: string) => {
    if (blank.includes("|")) return any(blank.split("|"));
    const name = blank.toLowerCase();
    const list = words.get(name.replace(/\d$/, ""));
    if (list === undefined) throw new Error(`words.txt has no ${name}`);
    const word = chosen.getOrInsertComputed(name, () => any(list));
    return blank === name ? word : word.charAt(0).toUpperCase() + word.slice(1);
  });
}

/** Whether every blank of a query is one that its fact has filled. */
function fits(query: string, chosen: ReadonlyMap<string, string>): boolean {
  return [...query.matchAll(BLANK)].every(([, blank = ""]) => chosen.has(blank.toLowerCase()));
}

/** Pairs from the templates of topics.txt and words.txt, the same for the same random numbers. */
export async function makePairs(random: () => number): Promise<Pair[]> {
  const [topics, list] = await Promise.all([read("topics.txt"), read("words.txt")]);
  const words = parseWords(list);
  return topics.split(/^# /m).slice(1).flatMap((block, topic) => {
    const lines = block.trim().split("\n").slice(1);
    const queries = lines.filter((line) => line.startsWith("?")).map((line) => line.slice(2));
    const facts = lines.filter((line) => !line.startsWith("?"));
    return facts.flatMap((template) =>
      Array.from({ length: template.includes("{") ? VARIANTS : 1 }, () => {
        const chosen = new Map<string, string>();
        const fact = filled(template, chosen, words, random);
        return queries.filter((query) => fits(query, chosen))
          .map((query) => ({ topic, query: filled(query, chosen, words, random), fact }));
      }).flat()
    );
  });
}

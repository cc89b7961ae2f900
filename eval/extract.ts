import { extractFacts } from "../src/memory/extract/facts.ts";
import { share } from "./content_words.ts";
import { print } from "./print.ts";

/** A labelled text; see tests/testdata/extraction/README.md. */
export interface LabelledText {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly facts: readonly string[];
}

/** How well an extractor does on labelled texts. */
export interface ExtractionFigures {
  /** Number of texts. */
  readonly texts: number;
  /** Number of labels. */
  readonly labels: number;
  /** Share of labels that one extracted fact holds, 0 to 1. */
  readonly coverage: number;
  /** Mean number of facts a text. */
  readonly factsPerText: number;
  /** Mean number of facts of texts without a label. */
  readonly factsPerEmptyText: number;
  /** Labels that no fact holds, with the text's id. */
  readonly missed: readonly string[];
}

/** Share of a label's content words that one fact must hold. */
const HELD = 0.6;
/** Most facts of one text, as at the route. */
const MOST_FACTS = 20;

/** Reads `dev`, `held_out`, `fresh`, `styles_dev` or `styles_held_out`. */
export async function labelledTexts(split: string): Promise<LabelledText[]> {
  const file = new URL(`../tests/testdata/extraction/${split}.json`, import.meta.url);
  return JSON.parse(await Deno.readTextFile(file));
}

/** Runs the rules over labelled texts. */
export function measure(texts: readonly LabelledText[]): ExtractionFigures {
  let labels = 0;
  let facts = 0;
  let factsOfEmpty = 0;
  const missed: string[] = [];
  for (const { id, text, facts: wanted } of texts) {
    const found = extractFacts(text, MOST_FACTS).map((fact) => fact.text);
    facts += found.length;
    labels += wanted.length;
    if (wanted.length === 0) factsOfEmpty += found.length;
    for (const label of wanted) {
      if (!found.some((fact) => share(label, fact) >= HELD)) missed.push(`${id}: ${label}`);
    }
  }
  const empty = texts.filter((text) => text.facts.length === 0).length;
  return {
    texts: texts.length,
    labels,
    coverage: 1 - missed.length / labels,
    factsPerText: facts / texts.length,
    factsPerEmptyText: empty === 0 ? 0 : factsOfEmpty / empty,
    missed,
  };
}

/**
 * Prints coverage and facts a text of every split; `--missed` lists what is missed in both
 * `dev`. */
export async function run(args: readonly string[]): Promise<number> {
  const lines = ["Rule extractor: labels held by one fact (>= 60 % of the content words)"];
  const dev = await labelledTexts("dev");
  const heldOut = await labelledTexts("held_out");
  const fresh = await labelledTexts("fresh");
  const stylesDev = await labelledTexts("styles_dev");
  const splits = [
    ["dev", dev],
    ["held out", heldOut],
    ["fresh", fresh],
    ["all", [...dev, ...heldOut, ...fresh]],
    ["styles dev", stylesDev],
    ["styles held out", await labelledTexts("styles_held_out")],
  ] as const;
  for (const [name, texts] of splits) {
    const { labels, coverage, factsPerText, factsPerEmptyText } = measure(texts);
    lines.push(
      `${name.padEnd(15)} ${String(texts.length).padStart(3)} texts, ${
        String(labels).padStart(3)
      } labels: ` +
        `coverage ${coverage.toFixed(3)}, facts/text ${factsPerText.toFixed(2)} ` +
        `(${factsPerEmptyText.toFixed(2)} where there is nothing to keep)`,
    );
  }
  if (args.includes("--missed")) {
    lines.push("missed in dev:", ...measure(dev).missed);
    lines.push("missed in styles dev:", ...measure(stylesDev).missed);
  }
  print(...lines);
  return 0;
}

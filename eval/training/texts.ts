import { parseConversation } from "../conversation_set.ts";

/** A text that is looked for, and what is known of it. */
export interface Item {
  readonly text: string;
  /** Questions that it answers, and no other one of its store. */
  readonly queries: string[];
  /** The same in other words. */
  readonly reworded: string[];
  /** What looks like it and says something else. */
  readonly unlike: string[];
}

/** Texts that are searched together. */
export interface Store {
  readonly items: Item[];
  /** Questions about its subjects that none of its texts answers. */
  readonly unanswered: string[];
}

const FOLDER = new URL("./texts/", import.meta.url);

const itemOf = (text: string): Item => ({ text, queries: [], reworded: [], unlike: [] });

/** A store of facts: the lines behind one that begins with "##", as README.md describes them. */
function storeOf(lines: readonly string[]): Store {
  const store: Store = { items: [], unanswered: [] };
  for (const line of lines) {
    const rest = line.slice(2);
    const item = store.items.at(-1);
    if (line.startsWith("= ")) store.items.push(itemOf(rest));
    else if (line.startsWith("? ")) item!.queries.push(rest);
    else if (line.startsWith("~ ")) item!.reworded.push(rest);
    else if (line.startsWith("x ")) item!.unlike.push(rest);
    else if (line.startsWith("! ")) store.unanswered.push(rest);
    else throw new Error(`no line of a store: ${line}`);
  }
  return store;
}

/** What a conversation tells, and its turns: a store of each. */
function storesOf(lines: readonly string[]): Store[] {
  const told = storeOf(lines.filter((line) => /^[=?~x!] /.test(line)));
  const said = parseConversation("", lines.filter((line) => !/^[~x!] /.test(line)).join("\n"));
  const turns = said.turns.map(({ text }) => itemOf(text));
  for (const { text, turn } of said.questions) turns[turn]!.queries.push(text);
  return [told, { items: turns, unanswered: [] }];
}

/** The stores of the folder `texts`, by file. */
export async function readTexts(): Promise<Record<string, Store[]>> {
  const names = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => name).sort();
  const read = async (name: string): Promise<[string, Store[]]> => {
    const content = await Deno.readTextFile(new URL(name, FOLDER));
    const stores = content.split(/^## .*\n/mu).slice(1).flatMap((part) => {
      const lines = part.split("\n").filter((line) => line !== "");
      return lines[0]?.startsWith("# ") ? storesOf(lines) : [storeOf(lines)];
    });
    return [name.replace(".txt", ""), stores];
  };
  return Object.fromEntries(await Promise.all(names.map(read)));
}

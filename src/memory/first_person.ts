/** Words after which "the user" is part of the name of a thing. */
const THING = "account|agent|base|data|experience|group|guide|id|ids|input|interface|interfaces|" +
  "journey|list|manual|name|names|profile|profiles|research|role|roles|settings|story|stories|" +
  "table|tests|testing";
const USER = `user(?! (?:${THING})\\b)`;

const INVERTED = new Map([["does", "do I"], ["is", "am I"], ["has", "have I"]]);
const STRAIGHT = new Map([["is", "I am"], ["has", "I have"], ["does", "I do"]]);

// Without an article only the beginning of a sentence is about a person. The word comes first, so that
// no run of white space is looked through from each of its characters.
const BARE = new RegExp(`${USER}(?<=(?:^|[.!?:\\n]\\s*)user)(?= [a-z])`, "gi");
const POSSESSIVE = new RegExp(`\\b(?:the )?${USER}['\u2019]s\\b`, "gi");
const QUESTION = new RegExp(`\\b(does|is|has) the ${USER}\\b`, "gi");
const STATEMENT = new RegExp(`\\bthe ${USER} (is|has|does)\\b`, "gi");
const OBJECT = new RegExp(
  `\\b(about|by|for|from|of|to|with|ask|call|give|help|remind|tell) the ${USER}\\b`,
  "gi",
);
const SUBJECT = new RegExp(`\\bthe ${USER}\\b`, "gi");

/**
 * An English text about "the user" as that person would say it. Assistants write and ask both ways,
 * and embedders take them for different people: where one side says "the user" and the other "I",
 * that alone costs a good part of the first hits (docs/recall.md). What is embedded, and nothing else,
 * is brought to one form.
 */
export function firstPerson(text: string): string {
  if (!/\buser\b/i.test(text)) return text;
  return text
    .replace(BARE, "the user")
    .replace(POSSESSIVE, "my")
    .replace(QUESTION, (_, verb: string) => INVERTED.get(verb.toLowerCase())!)
    .replace(STATEMENT, (_, verb: string) => STRAIGHT.get(verb.toLowerCase())!)
    .replace(OBJECT, "$1 me")
    .replace(SUBJECT, "I");
}

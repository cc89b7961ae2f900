import assert from "node:assert/strict";
import { firstPerson } from "../../src/memory/vectors.ts";

Deno.test("what is said about the user is brought to the first person", () => {
  const cases = {
    "The user prefers tea. User lives in Oslo": "I prefers tea. I lives in Oslo",
    "What is the user's job?": "What is my job?",
    "What is the user\u2019s job?": "What is my job?",
    "user's caffeine habit": "my caffeine habit",
    "Does the user like tea?": "do I like tea?",
    "is the user married?": "am I married?",
    "the user is a nurse": "I am a nurse",
    "Remind the user about it": "Remind me about it",
    "When did the user move?": "When did I move?",
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(firstPerson(text), expected);
});

Deno.test("things named after users, and everybody else, stay as they are", () => {
  const texts = ["The user interface is slow", "Three users like it", "superuser", "I am Ana", ""];
  for (const text of texts) assert.equal(firstPerson(text), text);
});

Deno.test("only the beginning of a sentence needs no article, white space or not", () => {
  const cases = {
    "User likes tea": "I likes tea",
    "He left. \n\n user likes tea": "He left. \n\n I likes tea",
    "Note:user likes tea": "Note:I likes tea",
    "A user likes tea": "A user likes tea",
    "(user likes tea)": "(user likes tea)",
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(firstPerson(text), expected);
});

import assert from "node:assert/strict";
import { parseConversation, readConversations } from "../../eval/conversation_set.ts";

Deno.test("a conversation is read with its sessions, facts and questions", () => {
  const { turns, facts, questions } = parseConversation(
    "ada",
    [
      "# 2026-01-05 08:12",
      "User: the boiler is dead",
      "Ben: call Stelian",
      "= Stelian repairs the boiler.",
      "? who repairs the heating",
      "# 2026-02-01 09:00",
      "User: it works",
      "? does it work",
      "",
    ].join("\n"),
  );
  assert.deepEqual(turns, [
    {
      text: "the boiler is dead",
      session: "ada 1",
      position: 0,
      at: Date.parse("2026-01-05T08:12Z"),
    },
    {
      text: "Ben: call Stelian",
      session: "ada 1",
      position: 1,
      at: Date.parse("2026-01-05T08:13Z"),
    },
    { text: "it works", session: "ada 2", position: 0, at: Date.parse("2026-02-01T09:00Z") },
  ]);
  assert.deepEqual(facts, [{ ...turns[1]!, text: "Stelian repairs the boiler." }]);
  assert.deepEqual(questions, [
    { text: "who repairs the heating", turn: 1, fact: 0 },
    { text: "does it work", turn: 2 },
  ]);
  assert.throws(() => parseConversation("ada", "nobody said this"));
});

Deno.test("tuning and held-out conversations are as many as they say, and of other people", async () => {
  const [tuning, heldOut] = [
    await readConversations("tuning"),
    await readConversations("held_out"),
  ];
  const count = (sets: typeof tuning, member: "turns" | "facts" | "questions") =>
    sets.reduce((sum, set) => sum + set[member].length, 0);
  assert.deepEqual(
    [count(tuning, "turns"), count(tuning, "facts"), count(tuning, "questions")],
    [269, 136, 215],
  );
  assert.deepEqual(
    [count(heldOut, "turns"), count(heldOut, "facts"), count(heldOut, "questions")],
    [525, 265, 419],
  );
  // "How did she take it?" may be asked of anybody; what answers a question is of one of them.
  const answering = ({ turns, facts, questions }: typeof tuning[number]) => [
    ...facts.map(({ text }) => text),
    ...questions.map(({ turn }) => turns[turn]!.text),
  ];
  const known = new Set(tuning.flatMap(answering));
  assert.deepEqual(heldOut.flatMap(answering).filter((text) => known.has(text)), []);
});

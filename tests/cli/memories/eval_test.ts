import assert from "node:assert/strict";
import { SignedIn } from "./signed_in.ts";
import { verifies } from "../../requirements.ts";
import { parseQuestions } from "../../../cli/memories/eval/question_file.ts";
import { seeded } from "../../../cli/memories/eval/ranks.ts";

Deno.test("eval says how often the right memory is found, and which are not", async () => {
  verifies("13.4-20");
  await using here = await SignedIn.open();
  const id = await here.svc.remember("I like green tea");
  await here.svc.remember("The door code is 4711");
  const path = `${here.terminal.home}/questions.txt`;
  await Deno.writeTextFile(
    path,
    [
      "# mine",
      "what tea do I like? => Green  TEA",
      "",
      `green tea => ${id}`,
      `tea => ${id.slice(-12)}`,
      "door code => no such memory",
    ].join("\r\n"),
  );
  const { code, out, err } = await here.run(["eval", "--questions", path]);
  assert.deepEqual([code, err], [0, ""]);
  assert.match(
    out,
    /^4 questions; percent, and their 95 % intervals:\n\n +first +among 5 +among 10\n/,
  );
  assert.match(out, /\nhybrid +75\.0 \(\d+ to 100\) +75\.0 \(\d+ to 100\) +75\.0/);
  assert.match(out, /\nsemantic .*\nkeyword /);
  assert.match(
    out,
    /\nNot among the first ten of hybrid:\n {2}not found: door code => no such memory\n$/,
  );
  const machine = await here.json(["eval", "--questions", path]);
  assert.equal(machine.questions, 4);
  assert.deepEqual(machine.missed, [{ question: "door code", expected: "no such memory" }]);
  assert.deepEqual(machine.modes.map(({ mode }: { mode: string }) => mode), [
    "hybrid",
    "semantic",
    "keyword",
  ]);
  assert.equal(machine.modes[0].hit1.value, 75);
  const other = await here.json(["eval", "--questions", path, "--ns", "other"]);
  assert.equal(other.modes[0].recall10.value, 0);
});

Deno.test("eval says what is wrong with its file", async () => {
  await using here = await SignedIn.open();
  const none = await here.run(["eval"]);
  assert.deepEqual([none.code, none.err], [2, "Which file? --questions <file>\n"]);
  const missing = await here.run(["eval", "--questions", "~/none"]);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /cannot be read/);
  const refused = (content: string) => {
    try {
      parseQuestions(content);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(refused("a => b\nwhat?"), /^Line 2: /);
  assert.match(refused("a => b => c"), /^Line 1: /);
  assert.match(refused(" => b"), /^Line 1: /);
  assert.match(refused("# nothing"), /no question/);
  assert.equal(parseQuestions("q => a\n".repeat(1000)).length, 1000);
  assert.match(refused("q => a\n".repeat(1001)), /More than 1000/);
});

Deno.test("the numbers of a bootstrap are uniform, and the same each time", () => {
  const [one, other] = [seeded(), seeded()];
  let sum = 0;
  for (let i = 0; i < 10_000; i++) {
    const value = one();
    assert.equal(value, other());
    assert.ok(value >= 0 && value < 1);
    sum += value;
  }
  assert.ok(Math.abs(sum / 10_000 - 0.5) < 0.02, String(sum));
});

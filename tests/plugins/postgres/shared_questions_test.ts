import assert from "node:assert/strict";
import { SharedQuestions } from "../../../plugins/postgres/shared_questions.ts";
import { turns } from "../../within.ts";

/** Questions that are answered by hand. */
function setup() {
  const asked: PromiseWithResolvers<void>[] = [];
  const questions = new SharedQuestions();
  const ask = (key = "k") =>
    questions.ask(key, () => {
      const answer = Promise.withResolvers<void>();
      asked.push(answer);
      return answer.promise;
    });
  return { asked, ask };
}

Deno.test("who asks while a question is under way shares the next one", async () => {
  const { asked, ask } = setup();
  const first = ask();
  const [second, third] = [ask(), ask()];
  const other = ask("another");
  assert.equal(asked.length, 2, "one under each key");
  asked[0]!.resolve();
  await first;
  await turns();
  assert.equal(asked.length, 3);
  const fourth = ask();
  assert.equal(asked.length, 3, "it began before the fourth asked");
  asked[2]!.resolve();
  await Promise.all([second, third]);
  await turns();
  asked[3]!.resolve();
  await fourth;
  asked[1]!.resolve();
  await other;
  const fresh = ask();
  assert.equal(asked.length, 5);
  asked[4]!.resolve();
  await fresh;
});

Deno.test("a question that fails fails for those who shared it, and for nobody else", async () => {
  const { asked, ask } = setup();
  const [first, second] = [ask(), ask()];
  asked[0]!.reject(new Error("no answer"));
  await assert.rejects(first, /no answer/);
  await turns();
  asked[1]!.resolve();
  await second;
});

import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";

const FACTS = `
The spare key is under the blue flower pot
My sister's birthday is on the 14th of May
I take the number 12 tram to work
The wifi password of the cabin is on the fridge
My favourite colour is dark green
I play the cello in a quartet on Thursdays
Our cat is called Biscuit and she is nine years old
I wear shoes in size 42
My dentist is Dr. Okafor on Mill Street
I am learning Portuguese for a trip to Lisbon
The car needs new tyres before winter
I studied chemistry in Vienna
My neighbour Tom waters the plants when I am away
I run ten kilometres every Sunday morning
The garage door code was changed last week
I prefer the window seat on trains
My grandmother grew up on a farm in Galicia
The book club meets on the first Monday of the month
I sold my old bicycle to a student
My laptop has a Swiss keyboard
`.trim().split("\n");

Deno.test("what should I not cook for them?", async () => {
  await using installation = await Installation.create({ SVC_PORT: String(freePort()) });
  const svc = async (...args: string[]) => {
    const { code, output, errors } = await installation.run(args);
    assert.equal(code, 0, `${args[0]}: ${errors}`);
    return output;
  };
  await using program = await installation.launch();
  await svc("account", "create", "--save");
  await svc("remember", "I am allergic to peanuts");
  assert.equal(FACTS.length, 20);
  for (const fact of FACTS) await svc("remember", fact);
  const { results } = JSON.parse(
    await svc("recall", "what should I not cook for them?", "--json"),
  );
  const ranking = results.map(({ text }: { text: string }) => text);
  assert.equal(ranking[0], "I am allergic to peanuts", ranking.slice(0, 5).join(" | "));
  const shown = await svc("recall", "what should I not cook for them?", "--limit", "1");
  assert.match(shown, /allergic to peanuts/);
  assert.equal(await program.stop(), 0);
});

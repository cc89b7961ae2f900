import assert from "node:assert/strict";
import { judgeRepetition } from "../../../src/memory/links/restatement.ts";
import { judgeResent } from "../../../src/memory/links/resent.ts";

/** Statements that look alike and of which each has to be kept. */
const DIFFERENT: readonly (readonly [string, string])[] = [
  ["I prefer tea to coffee.", "I prefer coffee to tea."],
  ["Dogs chase cats at home.", "Cats chase dogs at home."],
  ["I paint the red door and the blue wall.", "I paint the blue door and the red wall."],
  ["I call Ann on Monday.", "Ann calls me on Monday."],
  ["Turn off the lights at ten.", "Turn on the lights at ten."],
  ["I give my dog a bone.", "My dog gives me a bone."],
  ["The keys are at the table.", "The keys are on the table."],
  ["I don't eat any meat.", "I eat any meat."],
  ["I have got a cat.", "I had a cat."],
  ["The red box holds the blue ball.", "The blue box holds the red ball."],
  ["I keep the red key in the blue box.", "I keep the blue key in the red box."],
  ["I like my old car's new tyres.", "I like my new car's old tyres."],
  ["I feed the black cat dry food.", "I feed the dry cat black food."],
  ["I teach big classes small things.", "I teach small classes big things."],
  [
    "The red car belongs to Ann and the blue one to Ben.",
    "The blue car belongs to Ann and the red one to Ben.",
  ],
  ["My mother is Ann.", "Ann's mother is here."],
  ["My painter is Ann.", "I paint Ann."],
  ["The painter is red.", "The paint is red."],
  ["The play is on Friday.", "The player is on Friday."],
  ["Ann sits next to Ben.", "Ann lives next to Ben."],
  ["Ann belongs to the club.", "Ann owns the club."],
  ["Ann runs the marathon.", "Ann leads the marathon."],
  ["I found a coin in the drawer.", "I put a coin in the drawer."],
  ["The tenant pays 900 euros.", "The tenant costs 900 euros."],
  ["I post photos to Ann.", "I mail photos to Ann."],
  ["My shoes fit me.", "I wear my shoes."],
  ["I use Emacs at work.", "I use Emacs."],
  ["I give lessons on Monday.", "I get lessons on Monday."],
  ["I take lessons on Monday.", "I give lessons on Monday."],
  ["Ann makes cakes for Ben.", "Ann gets cakes from Ben."],
  ["I see Ann on Monday.", "I am Ann on Monday."],
  ["I came to Rome on Monday.", "I went to Rome on Monday."],
  ["Ann comes to Rome in May.", "Ann goes to Rome in May."],
  ["My son works in the shop.", "My son is in the shop."],
  ["My flight is at 7 am.", "My flight is at 7 pm."],
  ["Ann runs the shop in May.", "Ann is in the shop in May."],
  ["I run in the park on Sundays.", "I am in the park on Sundays."],
  ["I work in Rome on Fridays.", "I am in Rome on Fridays."],
  ["I use sugar in my tea.", "I see sugar in my tea."],
  ["I supply Acme with milk.", "Acme supplies me with milk."],
  ["We get milk from Acme on Friday.", "We give milk to Acme on Friday."],
  ["I am a dentist.", "I have a dentist."],
  ["Elsbeth trained Corin.", "Corin trained Elsbeth."],
  ["Bea owes me 25 euros.", "I owe Bea 25 euros."],
  ["I moved from Lisbon to Porto.", "I moved to Lisbon from Porto."],
  ["The keys are on the fridge.", "The keys are in the fridge."],
  ["The keys are under the mat.", "The keys are on the mat."],
  ["Version 2 needs 7 GB.", "Version 7 needs 2 GB."],
  ["I like tea but not coffee.", "I like coffee but not tea."],
  [
    "The red car belongs to Ann and the blue one to Ben.",
    "The blue car belongs to Ann and the red one to Ben.",
  ],
  ["My dog is called Max.", "My cat is called Max."],
  ["I live in Berlin.", "I lived in Berlin."],
  ["I live in Berlin.", "I will live in Berlin."],
  ["I work at Siemens.", "I no longer work at Siemens."],
  ["I want a boat in Rhodes.", "I have a boat in Rhodes."],
  ["Ann writes music on Mondays.", "Ann has music on Mondays."],
  ["I make bread on Sunday.", "I get bread on Sunday."],
  ["My boss's wife is Ann.", "My wife's boss is Ann."],
  ["The cat chased the dog.", "The dog chased the cat."],
  ["I can swim.", "I can not swim."],
  ["The bakery opens at nine.", "The bakery closes at nine."],
  ["Ann called Ben.", "Ben called Ann."],
  ["Ann was called by Ben.", "Ann called Ben."],
  ["I take the pill before breakfast.", "I take the pill after breakfast."],
  ["I ate at the Ritz on 3 May.", "I ate at the Ritz on 5 March."],
  ["I like my coffee black.", "I like my coffee."],
  ["I am allergic to Brazil nuts.", "I am allergic to nuts."],
  ["The meeting is at 3 pm.", "The meeting is at 3 am."],
  ["Tom is taller than Jim.", "Jim is taller than Tom."],
  ["I have one brother.", "I have two brothers."],
  ["I have 2 cats and 3 dogs.", "I have 3 cats and 2 dogs."],
  ["She lives in Rome.", "He lives in Rome."],
  ["She lives in Rome.", "I live in Rome."],
  ["My son lives in Rome.", "I live in Rome."],
  ["The left tap is hot.", "The right tap is hot."],
  ["I may eat nuts.", "I must eat nuts."],
  ["I should eat nuts.", "I eat nuts."],
  ["Ann gave Ben the book.", "Ben gave Ann the book."],
  ["Ann gave the book to Ben.", "Ben gave the book to Ann."],
  ["The password hint is blue.", "The password hint is glue."],
  ["Do I live in Rome?", "I live in Rome."],
  ["I run on Mondays.", "I run on Mondays and Fridays."],
  ["I drink a lot of coffee.", "I drink little coffee."],
  ["I have a meeting with Ann on Monday.", "I have a meeting for Ann on Monday."],
  ["Our server is called Atlas.", "Our server calls Atlas."],
  ["Ann works for Ben.", "Ben works for Ann."],
  ["I lent my bike to Ann.", "I lent Ann's bike."],
  ["Emma's teacher is Mr. Low.", "Mr. Low's teacher is Emma."],
  ["The train to Rome leaves at 9.", "The train from Rome leaves at 9."],
  ["I like working with Ann.", "I like working without Ann."],
  ["My favourite Beatle was Paul.", "My favourite Beatle is Paul."],
  ["I stopped smoking.", "I started smoking."],
  ["Always use tabs.", "Never use tabs."],
  ["Use tabs.", "Use spaces."],
  ["Use tabs in Go.", "Use tabs in Python."],
  ["I keep bees.", "I keep bees in Kent."],
  ["My brother-in-law is a judge.", "My brother is a judge."],
  ["Ann is not my sister.", "Ann is my sister."],
  ["Ann lives with Ben.", "Ann lives near Ben."],
  ["My GP is Dr. Shaw.", "My dentist is Dr. Shaw."],
  ["I take 5 mg of Eliquis.", "I take 5 g of Eliquis."],
  ["The rent is 900 euros.", "The rent is 900 dollars."],
  ["It is 5 degrees.", "It is -5 degrees."],
  ["I finished the book on Monday.", "I began the book on Monday."],
  ["I would live in Rome.", "I live in Rome."],
  ["I might move to Rome.", "I move to Rome."],
  ["Mum sold the car to Dad.", "Dad sold the car to Mum."],
  ["I prefer tea over coffee.", "I prefer coffee over tea."],
  ["My uncle is my boss.", "My aunt is my boss."],
  ["I work in the office on Mondays.", "I work in the office every day."],
  ["We sell to Acme.", "We buy from Acme."],
  ["Acme sells to us.", "We sell to Acme."],
  ["The client calls the server.", "The server calls the client."],
  ["The API depends on the cache.", "The cache depends on the API."],
  ["Ann is Ben's mother.", "Ben is Ann's mother."],
  ["I teach Ann piano.", "Ann teaches me piano."],
  ["Ben's dog bit Ann.", "Ann's dog bit Ben."],
  ["The invoice was paid by Ann.", "Ann was paid by the invoice."],
  ["I use Vim at home.", "I use Vim at work."],
  ["I sleep at the office.", "I sleep in the office on Mondays."],
];

/** Two wordings of one statement. */
const SAME: readonly (readonly [string, string])[] = [
  ["My sister Ann lives in Rome.", "Rome is where my sister Ann lives."],
  ["I keep my passport in the safe.", "My passport I keep in the safe."],
  ["Turn off the lights at ten.", "Turn the lights off at ten."],
  ["I've got a cat called Tom.", "I have a cat called Tom."],
  ["I jog in the morning.", "Since you said you jog in the morning."],
  ["Ann was called by Ben.", "Ben called Ann."],
  ["I live in Berlin.", "The user lives in Berlin."],
  ["I live in Berlin.", "As you told me, you live in Berlin."],
  ["I'm vegan.", "The user is vegan."],
  ["The backup runs at 02:15.", "At 02:15 the backup runs."],
  ["I have a dog called Rex.", "The user has a dog named Rex."],
  ["My flight is on April 6.", "On 6 April is my flight."],
  ["The gas bill rose in March.", "March saw the user's gas bill go up."],
  ["Our roof was repaired on Monday.", "On Monday our roof was fixed."],
  ["Never rebase shared branches.", "You asked me never to rebase shared branches."],
  ["Answer in at most three sentences.", "No answer may have more than three sentences."],
  ["My niece Ottilia lives in Rome.", "Ottilia, my niece, lives in Rome."],
];

interface Facts {
  readonly facts: readonly {
    readonly id: string;
    readonly fact: string;
    readonly paraphrases: readonly string[];
    readonly echo: string;
    readonly pair?: string;
  }[];
  readonly boot_files: readonly { readonly text: string; readonly changed: string }[];
}

async function tuning(): Promise<Facts> {
  const file = new URL("../../testdata/writes/tuning.json", import.meta.url);
  return JSON.parse(await Deno.readTextFile(file));
}

Deno.test("what differs in anything that matters stays two", () => {
  for (const [a, b] of DIFFERENT) {
    for (const [older, newer] of [[a, b], [b, a]] as const) {
      assert.equal(judgeRepetition(older, newer), undefined, `${older} ${newer}`);
    }
  }
});

Deno.test("other wordings are one, whichever comes first", () => {
  for (const [a, b] of SAME) {
    for (const [older, newer] of [[a, b], [b, a]] as const) {
      assert.equal(judgeRepetition(older, newer)?.kind, "restates", `${older} ${newer}`);
    }
  }
  const echo = judgeRepetition("We cook on gas.", "As noted, you cook on gas.");
  assert.deepEqual(echo, { kind: "restates", by: "echo", score: 0.9 });
});

Deno.test("echoes and light rewordings of the tuning facts are one, and no two facts are", async () => {
  const { facts } = await tuning();
  const found = { echo: 0, light: 0, strong: 0 };
  for (const { fact, echo, paraphrases: [light = "", strong = ""] } of facts) {
    for (const [kind, text] of Object.entries({ echo, light, strong })) {
      if (judgeRepetition(fact, text)) found[kind as keyof typeof found]++;
    }
  }
  assert.ok(found.echo >= 119 && found.light >= 117 && found.strong >= 55, JSON.stringify(found));
  const wordings = ({ fact, echo, paraphrases }: Facts["facts"][number]) => [
    fact,
    echo,
    ...paraphrases,
  ];
  for (const [i, one] of facts.entries()) {
    for (const other of facts.slice(i + 1)) {
      // Those that were made to look alike, in all wordings.
      const [some, others] = one.pair === other.id
        ? [wordings(one), wordings(other)]
        : [[one.fact], [other.fact]];
      for (const a of some) {
        for (const b of others) assert.equal(judgeRepetition(a, b), undefined, `${a} ${b}`);
      }
    }
  }
});

Deno.test("a long text that is sent again with a change takes the older one's place", async () => {
  const { boot_files: files } = await tuning();
  for (const { text, changed } of files) {
    const found = judgeResent(text, changed);
    assert.deepEqual([found?.kind, found?.by], ["supersedes", "sent_again"]);
    for (const other of files) {
      if (other.text !== text) assert.equal(judgeResent(text, other.text), undefined);
    }
  }
  const [{ text } = { text: "" }] = files;
  assert.equal(judgeResent(text, `About somebody else\n${text}`), undefined, "another title");
  assert.equal(judgeResent("The rent is 900 euros.", "The rent is 950 euros."), undefined);
});

Deno.test("any text is judged, and quickly", () => {
  const texts = [
    "",
    " ",
    "?",
    "'s",
    "not",
    "42",
    "。",
    "\u0001",
    "a".repeat(400),
    "not ".repeat(90),
  ]
    .concat([
      "two hundred ".repeat(30),
      "Ann's ".repeat(60),
      "ich wohne in Köln",
      "나는 서울에 산다",
    ]);
  const start = performance.now();
  for (const a of texts) for (const b of texts) judgeRepetition(a, b);
  assert.ok(performance.now() - start < 5_000);
  assert.equal(judgeRepetition("ich wohne in Köln", "ich wohne in Bonn"), undefined);
  assert.equal(judgeRepetition("나는 서울에 산다", "나는 부산에 산다"), undefined);
});

Deno.test("a number is the same however it is written, and no other one", () => {
  const ways = [["1,000", "1000"], ["two", "2"], ["sixty-three", "63"], ["a dozen", "12"], [
    "3rd",
    "3",
  ]];
  for (const [one, other] of ways) {
    const says = (number: string) => `My locker has number ${number}`;
    for (const [a, b] of [[one, other], [other, one]]) {
      assert.equal(judgeRepetition(says(a!), says(b!))?.kind, "restates", `${a} ${b}`);
      assert.equal(judgeRepetition(says(a!), says(`7${b}`)), undefined, `${a} 7${b}`);
    }
  }
  assert.ok(judgeRepetition("The shop opens at 10:00", "At 10 the shop opens"));
  assert.equal(judgeRepetition("The shop opens at 10:00", "At 11 the shop opens"), undefined);
});

Deno.test("what is kept of one text changes nothing about the next ones", () => {
  const pairs = [
    ["I live in Lisbon", "Lisbon is where I live"],
    ["I live in Lisbon", "I live in Porto"],
    ["My sister is Ana", "Ana is my sister"],
  ] as const;
  const judged = () => pairs.map(([a, b]) => [judgeRepetition(a, b), judgeRepetition(b, a)]);
  assert.deepEqual(judged(), judged());
});

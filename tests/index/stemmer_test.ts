import assert from "node:assert/strict";
import { stem } from "porter2";

/** Words and stems of the Snowball project's description of Porter2. */
const STEMS = `consign consign consigned consign consigning consign consignment consign
  consist consist consisted consist consistency consist consistent consist consistently consist
  consolation consol consolations consol consolatory consolatori console consol
  conspicuous conspicu conspicuously conspicu conspiracy conspiraci conspirator conspir
  constable constabl constables constabl constance constanc constancy constanc constant constant
  knack knack knackeries knackeri knacks knack knag knag knave knave knaves knave knavish knavish
  kneaded knead kneading knead knee knee kneel kneel kneeled kneel kneeling kneel kneels kneel
  knees knee knell knell knelt knelt knew knew knick knick knif knif knife knife knight knight
  knightly knight knights knight knit knit knits knit knitted knit knitting knit knives knive
  knob knob knobs knob knock knock knocked knock knocker knocker knockers knocker knots knot`
  .trim().split(/\s+/);

Deno.test("words have the stems of Porter2", () => {
  for (let i = 0; i < STEMS.length; i += 2) assert.equal(stem(STEMS[i]!), STEMS[i + 1]);
});

Deno.test("every step and exception", () => {
  const cases = {
    caresses: "caress",
    ties: "tie",
    cries: "cri",
    gas: "gas",
    gaps: "gap",
    kiwis: "kiwi",
    agreed: "agre",
    feed: "feed",
    hoping: "hope",
    hopping: "hop",
    luxuriated: "luxuri",
    happy: "happi",
    by: "by",
    say: "say",
    youth: "youth",
    enjoyment: "enjoy",
    relational: "relat",
    analogical: "analog",
    apology: "apolog",
    hopefulness: "hope",
    formalize: "formal",
    electrical: "electr",
    formative: "format",
    adoption: "adopt",
    replacement: "replac",
    controll: "control",
    generally: "general",
    communism: "communism",
    skies: "sky",
    dying: "die",
    news: "news",
    inning: "inning",
    exceeding: "exceed",
    is: "is",
  };
  for (const [word, expected] of Object.entries(cases)) assert.equal(stem(word), expected, word);
});

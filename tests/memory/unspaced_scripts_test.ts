import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { intercepted } from "./intercepted.ts";

/** Sentences as people write them, and what stands in them literally. */
const SENTENCES: readonly (readonly [text: string, queries: readonly string[]])[] = [
  [
    "我上个月从北京搬到了上海，现在和我的猫一起住在浦东新区的一套小公寓里，每天早上骑自行车去公司上班",
    ["猫", "北京", "公寓", "自行车"],
  ],
  [
    "今年的家庭装修预算是5000元，门牌号是B1207，王师傅负责水电和木工部分的所有工作",
    ["预算", "5000", "B1207"],
  ],
  [
    "先月東京から大阪に引っ越して、今は犬と一緒に小さなマンションに住んでいて毎朝電車で会社に通っています",
    ["犬", "大阪", "東京", "会社"],
  ],
  [
    "Wi-Fiのパスワードは「sakura2024」で、ルーターは台所の棚の上に置いてあります",
    ["台所", "棚", "パスワード", "sakura2024"],
  ],
  [
    "เดือนที่แล้วฉันย้ายจากกรุงเทพมาเชียงใหม่ ตอนนี้อยู่กับแมวในอพาร์ตเมนต์เล็กๆ และปั่นจักรยานไปทำงานทุกเช้า",
    ["แมว", "จักรยาน"],
  ],
  ["the party 🎉 is tonight", ["🎉"]],
];
/** One of the sentences tells a password. */
const ALLOWING = { secrets: "allow" } as const;
const TEXTS = SENTENCES.map(([text]) => text);
const ENGLISH = [
  "My dog is called Biscuit",
  "I play the cello in an orchestra",
  "The budget for the kitchen is large",
];

Deno.test("what stands in a sentence without spaces is found", async () => {
  // All texts are alike for it, so that words decide.
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, texts, options) => next(texts.map(() => "same"), options),
  });
  await using svc = await startRelayer({ backends: { embedder }, config: ALLOWING });
  for (const text of [...TEXTS, ...ENGLISH]) await svc.remember(text);
  for (const [text, queries] of SENTENCES) {
    for (const query of queries) {
      assert.deepEqual(await svc.recall(query, { mode: "keyword" }), [text], query);
      assert.equal((await svc.recall(query))[0], text, query);
    }
  }
});

Deno.test("what stands in no sentence is not found by single characters of it", async () => {
  await using svc = await startRelayer({ config: ALLOWING });
  for (const text of [...TEXTS, ...ENGLISH]) await svc.remember(text);
  for (const query of ["熊", "水果", "公文", "天上", "学校に", "กีตาร์", "ปู", "🚲", "submarine"]) {
    assert.deepEqual(await svc.recall(query, { mode: "keyword" }), [], query);
  }
});

Deno.test("English answers stay the same beside sentences without spaces", async () => {
  await using svc = await startRelayer({ config: ALLOWING });
  for (const text of ENGLISH) await svc.remember(text);
  const queries = ["what is the dog called", "cello", "kitchen budget"];
  const recallAll = (mode: string) =>
    Promise.all(queries.map(async (query) => (await svc.recall(query, { mode }))[0]));
  for (const text of TEXTS) await svc.remember(text);
  for (const mode of ["hybrid", "keyword"]) assert.deepEqual(await recallAll(mode), ENGLISH);
});

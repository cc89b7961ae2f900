import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SvcClient } from "../../src/client/mod.ts";
import { Installation } from "../crash/installation.ts";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

const NOTE = `Hi! I'm allergic to peanuts. My sister Jana lives near Dr. Novak in Brno.
She moved there in 2019. Do you like tea? Take care!`;
const FACTS = [
  "I'm allergic to peanuts.",
  "My sister Jana lives near Dr. Novak in Brno. She moved there in 2019.",
];

/** Connects as soon as the sidecar answers. */
async function connect(base: string, bearer: string, accountId: string): Promise<Client> {
  const headers = { authorization: `Bearer ${bearer}`, "x-svc-account-id": accountId };
  return await poll(
    async () => {
      const client = new Client({ name: "test", version: "1" });
      const url = new URL(`${base}/api/mcp`);
      const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
      return await client.connect(transport).then(() => client, () => undefined);
    },
    (client) => client !== undefined,
  ) as Client;
}

Deno.test("with no model configured everything works and says what it did", async () => {
  verifies("10.5-8", "10.7-10", "10.5-11");
  await using installation = await Installation.create();
  const { privateKey, accountId } = await installation.account();
  await using program = await installation.launch();
  const client = new SvcClient({ baseUrl: program.url, privateKey, accountId });

  const { job_id } = await client.remember("I take the number 12 tram to work.");
  await client.waitFor(job_id);
  const { results } = await client.recall("How do I get to my job?");
  assert.equal(results[0]?.text, "I take the number 12 tram to work.");

  const analyzed = await client.analyze(NOTE);
  assert.equal(analyzed.method, "rules");
  assert.deepEqual(analyzed.facts.map(({ text }) => text), FACTS);
  assert.equal((await client.analyze(NOTE)).total, 0);

  const asked = await client.ask("What should not be cooked for me because of allergies?");
  assert.equal(asked.answer_mode, "quotes");
  assert.match(asked.answer, /^No language model is configured .*\n1\. I'm allergic to peanuts\./);
  assert.equal(asked.memories[0]?.text, FACTS[0]);
  assert.equal(asked.memories_used, asked.memories.length);
  const far = await client.ask("Who won the chess world championship?");
  assert.match(far.answer, /no memory is close enough/);
  assert.deepEqual([far.memories_used, far.memories], [0, []]);
  const { dependencies } = await client.health() as Json;
  assert.equal(dependencies.llm.status, "disabled");

  const mcp = await connect(program.url, privateKey, accountId);
  const tool = async (name: string, args: Record<string, unknown>): Promise<Json> => {
    const result = await mcp.callTool({ name, arguments: { ...args, namespace: "mcp" } }) as Json;
    assert.ok(!result.isError, JSON.stringify(result.content));
    return result;
  };
  const saved = await tool("svc_remember", { text: "My locker number is 42." });
  assert.match(saved.content[0].text, /^Remembered in mcp\./);
  const extracted = await tool("svc_analyze", { text: NOTE });
  assert.equal(
    extracted.content[0].text.replaceAll(/ · [0-9a-f]{8}\]/g, " · ID]"),
    "Extracted 2 fact(s) — succeeded=2 failed=0\n\n" +
      `1. [done · ID] ${FACTS[0]}\n2. [done · ID] ${FACTS[1]}`,
  );
  assert.equal(extracted.structuredContent.method, "rules");
  const again = await tool("svc_analyze", { text: NOTE });
  assert.equal(again.content[0].text, "Extracted 0 fact(s) — succeeded=0 failed=0");
  const found = await tool("svc_recall", { query: "Where does my sister live?" });
  assert.match(found.content[0].text, /^1\. \[[\d-]{10} · \w+\] My sister Jana lives/);
  const restored = await tool("svc_restore", {});
  assert.match(restored.content[0].text, /total=3 {2}restored=0 {2}skipped=3/);
  await mcp.close();
  assert.equal(await program.stop(), 0);
  for (const secret of [...FACTS, "locker", privateKey]) {
    assert.ok(!installation.logs.includes(secret), secret);
  }
});

Deno.test("an operator's refusal to analyze by rules reaches the program", async () => {
  verifies("10.5-9");
  await using installation = await Installation.create({
    SVC_EMBEDDER: "memory",
    SVC_ANALYZE_REQUIRES_LLM: "true",
  });
  const { privateKey, accountId } = await installation.account();
  await using program = await installation.start();
  const client = new SvcClient({ baseUrl: program.url, privateKey, accountId });
  await assert.rejects(client.analyze(NOTE), { code: "llm_disabled" });
  assert.equal((await client.ask("peanuts?")).answer_mode, "quotes");
  assert.equal(await program.stop(), 0);
});

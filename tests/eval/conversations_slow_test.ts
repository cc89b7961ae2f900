import assert from "node:assert/strict";
import { readConversations } from "../../eval/conversation_set.ts";
import { conversationRanks } from "../../eval/conversations.ts";
import { quality } from "../../cli/memories/eval/ranks.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";

Deno.test("turns are found by what stands beside them, and facts no worse", async () => {
  await using embedder = useLiteEmbedder();
  const conversations = await readConversations("held_out");
  for (const telling of ["session", "time"] as const) {
    const turns = await conversationRanks(embedder, conversations, "turns", true, telling);
    const gain = quality(turns.inContext).recall10 - quality(turns.alone).recall10;
    assert.ok(gain >= 10, `turns by ${telling}: ${gain}`);
    const facts = await conversationRanks(embedder, conversations, "facts", true, telling);
    const loss = quality(facts.alone).hit1 - quality(facts.inContext).hit1;
    assert.ok(loss < 1, `facts by ${telling}: ${loss}`);
  }
});

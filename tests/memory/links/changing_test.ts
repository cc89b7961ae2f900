import assert from "node:assert/strict";
import type { Embedder } from "../../../src/interfaces/mod.ts";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import type { Json, TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";
import { Gate, intercepted } from "../intercepted.ts";

const FIRST = "My sister lives in Brno.";
const AGAIN = "My sister is living in Brno";
const OTHER = "My sister moved to Oslo";

const shown = async (svc: TestRelayer): Promise<string[]> =>
  (await svc.get("/api/memories?order=oldest")).body.memories.map(({ text }: Json) => text).sort();

async function send(svc: TestRelayer, text: string, members: Json = {}): Promise<Json> {
  const { status, body } = await svc.post("/api/remember", { text, ...members });
  assert.equal(status, 202, JSON.stringify(body));
  return body;
}

async function save(svc: TestRelayer, text: string, members: Json = {}): Promise<string> {
  const { memory_id } = await send(svc, text, members);
  await svc.relayer.idle();
  return memory_id;
}

/** A relayer that looks for what says the same, and embeds nothing while its gate is closed. */
async function gated() {
  const gate = new Gate();
  const embedder = (): Embedder =>
    intercepted<Embedder>(memoryEmbedder(), {
      embed: async (next, ...args) => {
        if (args[1].purpose === "document") await gate.pass();
        return await next(...args);
      },
    });
  const durable = await DurableRelayer.start({ config: { deduplicate: true }, embedder });
  return { gate, durable, svc: durable.svc };
}

/** What an accepted write does to a memory. */
const CHANGES: Readonly<Record<string, (svc: TestRelayer, id: string) => Promise<unknown>>> = {
  "is corrected": (svc, id) => svc.send("PUT", `/api/memories/${id}`, { text: OTHER }),
  "is taken the place of": (svc, id) => send(svc, OTHER, { supersedes: [id] }),
  "is taken the place of by its key": (svc) => send(svc, OTHER, { key: "sister/home" }),
};

for (const [what, change] of Object.entries(CHANGES)) {
  for (const text of [FIRST, AGAIN]) {
    Deno.test(`what says again what ${what} at that moment stays: ${text}`, async () => {
      verifies("10.1-22");
      const { gate, durable, svc } = await gated();
      await using _ = durable;
      const id = await save(svc, FIRST, what.endsWith("key") ? { key: "sister/home" } : {});
      gate.close();
      await change(svc, id);
      const again = await send(svc, text);
      assert.equal(again.deduplicated, undefined);
      gate.open();
      await svc.relayer.idle();
      assert.deepEqual(await shown(svc), [OTHER, text].sort());
    });
  }
}

Deno.test("what an earlier item of the same bulk takes the place of is said again by a later one", async () => {
  verifies("10.1-22");
  for (const key of [undefined, "sister/home"]) {
    const { durable, svc } = await gated();
    await using _ = durable;
    const id = await save(svc, FIRST, { key });
    const replacing = { text: OTHER, ...(key === undefined ? { supersedes: [id] } : { key }) };
    const { body } = await svc.post("/api/remember/bulk", { items: [replacing, { text: FIRST }] });
    assert.equal(body.deduplicated, undefined);
    await svc.relayer.idle();
    assert.deepEqual(await shown(svc), [FIRST, OTHER]);
    // The other way round it is what the later one takes the place of.
    const { body: turned } = await svc.post("/api/remember/bulk", {
      items: [{ text: FIRST }, { text: "My sister is in Rome", supersedes: [id] }],
    });
    assert.deepEqual(turned.deduplicated, [0]);
  }
});

Deno.test("what says again what was kept behind a memory stays when that was corrected", async () => {
  verifies("10.1-22");
  for (const text of [AGAIN, "In Brno my sister lives"]) {
    const { durable, svc } = await gated();
    await using _ = durable;
    const id = await save(svc, FIRST);
    await save(svc, AGAIN);
    assert.deepEqual(await shown(svc), [FIRST]);
    await svc.send("PUT", `/api/memories/${id}`, { text: OTHER });
    await svc.relayer.idle();
    // A correction is one of both.
    assert.deepEqual(await shown(svc), [OTHER]);
    assert.equal((await send(svc, text)).deduplicated, undefined);
    await svc.relayer.idle();
    assert.deepEqual(await shown(svc), [OTHER, text].sort());
    // From then on it is one of those that count.
    assert.equal((await send(svc, text)).deduplicated, true);
  }
});

Deno.test("a correction of what was kept behind a memory outlives the deletion of that", async () => {
  verifies("10.9-35");
  const { gate, durable, svc } = await gated();
  await using _ = durable;
  const first = await save(svc, FIRST);
  const again = await save(svc, AGAIN);
  const behind = await save(svc, "In Brno my sister lives");
  assert.deepEqual(await shown(svc), [FIRST]);
  gate.close();
  const corrected = await svc.send("PUT", `/api/memories/${again}`, { text: OTHER });
  assert.equal(corrected.status, 202);
  const deleted = await svc.send("DELETE", `/api/memories/${first}`);
  assert.deepEqual([deleted.status, deleted.body.restatements], [200, [behind]]);
  gate.open();
  await svc.relayer.idle();
  assert.deepEqual(await shown(svc), [OTHER]);
  const { body } = await svc.get(`/api/memories/${again}`);
  assert.deepEqual([body.version, body.text], [2, OTHER]);
});

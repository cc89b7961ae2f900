import assert from "node:assert/strict";
import { uniform } from "../../bench/statistics.ts";
import type { Json } from "../relayer_fixture.ts";
import { DurableRelayer } from "./durable.ts";

const REQUESTS = 10_000;
const AT_ONCE = 500;
const WORDS = "tea coffee train piano garden winter doctor bicycle window letter".split(" ");

/** What the test knows of one memory. */
interface Known {
  readonly text: string;
  /** Set before its deletion is asked for, and when that was answered. */
  deleting: boolean;
  deleted: boolean;
}

Deno.test("10,000 reads and writes at once show nothing deleted, foreign or half-written", async () => {
  // Requests made in process declare no length, so that each counts as the longest body.
  const config = { maxPendingJobs: 20_000, unverifiedBodyBytes: 2 ** 31 };
  await using durable = await DurableRelayer.start({ config });
  const { svc } = durable;
  const stranger = await svc.addAccount();
  await svc.post("/api/recall", { query: "tea" }, { key: stranger.key });
  const random = uniform(12);
  const memories = new Map<string, Known>();
  const counts = { recalls: 0, hits: 0, writes: 0, deletions: 0 };
  const pick = () => WORDS[Math.floor(random() * WORDS.length)]!;

  async function write(): Promise<void> {
    counts.writes++;
    const foreign = random() < 0.2;
    // The same words for everybody: only the scope tells them apart.
    const text = `${foreign ? "stranger" : "mine"} ${counts.writes} ${pick()} ${pick()} end`;
    const options = foreign ? { key: stranger.key } : {};
    const { status, body } = await svc.post("/api/remember", { text }, options);
    assert.equal(status, 202);
    if (!foreign) memories.set(body.memory_id, { text, deleting: false, deleted: false });
  }

  async function recall(): Promise<void> {
    counts.recalls++;
    const gone = new Set([...memories].filter(([, { deleted }]) => deleted).map(([id]) => id));
    const here = [...memories].filter(([, { deleting }]) => !deleting);
    const query = here[Math.floor(random() * here.length)]?.[1].text ?? pick();
    const { status, body } = await svc.post("/api/recall", { query, limit: 20 });
    assert.equal(status, 200, JSON.stringify(body));
    for (const { memory_id, text } of body.results as Json[]) {
      counts.hits++;
      assert.ok(!gone.has(memory_id), "a deleted memory was found");
      assert.match(text, /^mine \d+ \w+ \w+ end$/);
      const known = memories.get(memory_id);
      if (known !== undefined) assert.equal(text, known.text);
    }
  }

  async function remove(): Promise<void> {
    const here = [...memories].filter(([, { deleting }]) => !deleting);
    const chosen = here[Math.floor(random() * here.length)];
    if (chosen === undefined) return await recall();
    counts.deletions++;
    const [id, known] = chosen;
    known.deleting = true;
    const { status } = await svc.send("DELETE", `/api/memories/${id}`);
    assert.equal(status, 200);
    known.deleted = true;
  }

  await write();
  let left = REQUESTS;
  const worker = async () => {
    while (left-- > 0) {
      const dice = random();
      await (dice < 0.5 ? recall() : dice < 0.9 ? write() : remove());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await svc.relayer.idle();
  assert.ok(counts.recalls > 4000 && counts.hits > 10_000, JSON.stringify(counts));
  // In the end exactly what was not deleted is there, also after a restart.
  const expected = [...memories].filter(([, { deleting }]) => !deleting)
    .map(([id, { text }]) => [id, text]).sort();
  for (const restart of [false, true]) {
    if (restart) await durable.restart();
    const listed: string[][] = [];
    let cursor = "";
    do {
      const page = await durable.svc.get(`/api/memories?limit=200${cursor}`);
      for (const { memory_id, text } of page.body.memories) listed.push([memory_id, text]);
      const next = page.body.next_cursor;
      cursor = next === undefined ? "" : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== "");
    assert.deepEqual(listed.sort(), expected);
  }
});

import assert from "node:assert/strict";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { startSidecarTest } from "./fixture.ts";
import { call, type CallOptions, fakeRelayer } from "./tool_calls.ts";
import { WaitingClock } from "./waiting_clock.ts";

const JOB = {
  job_id: "j",
  memory_id: "m",
  status: "running",
  blob_id: "",
  namespace: "default",
  recallable: false,
};
const META = { progressToken: "p" };

interface Waited {
  /** Messages of the call. */
  readonly messages: readonly Json[];
  /** How long it took, milliseconds. */
  readonly ms: number;
}

/** One call of a tool whose jobs never get anywhere, on a clock of its own. */
async function waited(name: string, args: unknown, meta?: CallOptions["meta"]): Promise<Waited> {
  const clock = new WaitingClock();
  const facts = [{ text: "tea", job_id: "j", memory_id: "m" }];
  await using test = await startSidecarTest({
    now: clock.now,
    sleep: clock.sleep,
    fetch: fakeRelayer({
      "/api/remember": JOB,
      "/api/remember/j": JOB,
      "/api/analyze": { facts },
      "/api/remember/bulk/status": { results: [JOB] },
    }),
  });
  const begin = clock.now();
  let isOver = false;
  const answer = call(test, name, args, meta === undefined ? {} : { meta });
  void answer.finally(() => isOver = true);
  // The polls wait, and with a token the signs of progress too.
  const waiting = meta === undefined ? 1 : 2;
  for (;;) {
    await Promise.race([clock.until(waiting), answer]);
    if (isOver) break;
    clock.next();
  }
  return { messages: await answer, ms: clock.now() - begin };
}

Deno.test("svc_remember answers after 30 s all the same", async () => {
  verifies("12-18");
  const { messages: [answer], ms } = await waited("svc_remember", { text: "tea" });
  assert.equal(ms, 30_000);
  const { content, structuredContent, isError } = answer.result;
  assert.equal(isError, undefined);
  const [first, second, ...rest] = content[0].text.split("\n");
  assert.equal(first, "Remembered in default. memory_id=m");
  assert.match(second, /^Indexing continues/);
  assert.deepEqual(rest, []);
  assert.equal(structuredContent.recallable, false);
  assert.equal(structuredContent.message, second);
});

Deno.test("svc_analyze waits at most 180 s, and what is late counts as failed", async () => {
  verifies("12-20");
  const { messages: [answer], ms } = await waited("svc_analyze", { text: "long" });
  assert.equal(ms, 180_000);
  const { content, structuredContent } = answer.result;
  assert.equal(
    content[0].text,
    "Extracted 1 fact(s) — succeeded=0 failed=1\n\n1. [timeout · m] tea",
  );
  assert.deepEqual(structuredContent, {
    facts: [{ text: "tea", memory_id: "m", status: "timeout" }],
    extracted: 1,
    succeeded: 0,
    failed: 1,
  });
});

Deno.test("who asked for progress hears of a call every 10 s, and progress grows", async () => {
  verifies("12-21");
  for (
    const [name, args, ticks] of [
      ["svc_remember", { text: "tea" }, 3],
      ["svc_analyze", { text: "long" }, 18],
    ] as const
  ) {
    const { messages } = await waited(name, args, META);
    const notes = messages.slice(0, -1).map(({ method, params }) => {
      assert.equal(method, "notifications/progress");
      assert.equal(params.progressToken, "p");
      return params;
    });
    // Beginning, accepted, a sign every 10 s of the wait, the end.
    assert.equal(notes.length, 2 + ticks + 1, name);
    const values = notes.map(({ progress }) => progress);
    for (const [i, value] of values.slice(1).entries()) {
      assert.ok(value > values[i]!, String(value));
    }
    assert.ok(values.every((value) => value <= 2));
    assert.equal(messages.at(-1).id, 7);
  }
});

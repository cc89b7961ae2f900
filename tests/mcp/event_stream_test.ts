import assert from "node:assert/strict";
import { EventStream, guardStream, QUEUE_BYTES } from "../../src/mcp/sessions/event_stream.ts";
import { verifies } from "../requirements.ts";

const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

Deno.test("signs of life come again and again", async () => {
  verifies("11-17");
  let ended = 0;
  const stream = new EventStream({ firstKeepaliveMs: 0, keepaliveMs: 1, onEnd: () => ended++ });
  stream.event("message", "{}");
  const reader = stream.body.getReader();
  assert.equal(decode((await reader.read()).value), "event: message\ndata: {}\n\n");
  for (let i = 0; i < 3; i++) assert.equal(decode((await reader.read()).value), ":keepalive\n\n");
  await reader.cancel();
  assert.equal(stream.open, false);
  stream.event("message", "{}");
  stream.close();
  assert.equal(ended, 1);
});

Deno.test("what was written before the end is delivered", async () => {
  const stream = new EventStream({ firstKeepaliveMs: 1e6, keepaliveMs: 1e6, onEnd() {} });
  stream.event("a", "1");
  stream.event("b", "2");
  stream.close();
  const text = await new Response(stream.body).text();
  assert.equal(text, "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n");
});

Deno.test("one message may be large, a queue may not", async () => {
  let ended = false;
  const stream = new EventStream({
    firstKeepaliveMs: 1e6,
    keepaliveMs: 1e6,
    onEnd: () => ended = true,
  });
  stream.write(new Uint8Array(3 * QUEUE_BYTES));
  assert.equal(ended, false);
  stream.write(new Uint8Array(1));
  assert.equal(ended, true);
  await assert.rejects(new Response(stream.body).text());
});

Deno.test("a guarded stream ends with its source, and its source with it", async () => {
  const options = { firstKeepaliveMs: 1e6, keepaliveMs: 1e6 };
  const whole = guardStream(new Response("event: a\ndata: 1\n\n").body!, options);
  assert.equal(await whole.response().text(), "event: a\ndata: 1\n\n");
  assert.equal(whole.open, false);

  const cancelled = Promise.withResolvers<void>();
  const source = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() });
  await guardStream(source, options).body.cancel();
  await cancelled.promise;

  const broken = new ReadableStream<Uint8Array>({ start: (c) => c.error(new Error("x")) });
  assert.equal(await guardStream(broken, options).response().text(), "");
});

import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import type { ChatOptions, LanguageModel } from "../../src/interfaces/mod.ts";
import { createLogger } from "../../src/log.ts";
import { Gate, intercepted } from "../memory/intercepted.ts";
import { startRelayer } from "../relayer_fixture.ts";

Deno.test("work for a client that has left ends, and is no failure of the relayer", async () => {
  const chatting = Promise.withResolvers<ChatOptions>();
  const languageModel: LanguageModel = {
    model: "silent",
    async chat(_messages, options = {}) {
      chatting.resolve(options);
      const ended = Promise.withResolvers<string>();
      options.signal?.addEventListener("abort", () => ended.reject(options.signal?.reason));
      return await ended.promise;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const gate = new Gate();
  const embedder = intercepted(memoryEmbedder(), {
    embed: async (next, texts, options) => {
      await gate.pass(options.signal);
      return await next(texts, options);
    },
  });
  const lines: string[] = [];
  const logger = createLogger({
    format: "json",
    level: "debug",
    write: (line) => lines.push(line),
  });
  await using svc = await startRelayer({ backends: { languageModel, embedder }, logger });

  const leaving = (path: string, body: unknown) => {
    const client = new AbortController();
    const request = new Request(svc.request("POST", path, body), { signal: client.signal });
    return { answer: svc.fetch(request), leave: () => client.abort() };
  };
  const ask = leaving("/api/ask", { question: "What do I drink?" });
  const { signal } = await chatting.promise;
  ask.leave();
  assert.equal((await ask.answer).status, 499);
  assert.ok(signal?.aborted);
  gate.close();
  for (
    const [path, body] of [
      ["/api/recall", { query: "tea" }],
      ["/api/embed", { text: "tea" }],
      ["/api/analyze", { text: "I drink tea." }],
    ] as const
  ) {
    const { answer, leave } = leaving(path, body);
    await gate.reached;
    leave();
    assert.equal((await answer).status, 499, path);
    gate.close();
  }
  gate.open();
  assert.deepEqual(lines.filter((line) => line.includes('"error"')), []);
  const metrics = (await svc.plain("GET", "/metrics")).text;
  assert.ok(!/svc_errors_total\{/.test(metrics), metrics);
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 0);
});

import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { ollamaEmbedder, ollamaLanguageModel } from "../../../plugins/ollama/mod.ts";
import { openaiEmbedder, openaiLanguageModel } from "../../../plugins/openai/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import { Secret } from "../../../src/interfaces/fields.ts";
import type { BackendHealth } from "../../../src/interfaces/mod.ts";
import { verifies } from "../../requirements.ts";
import {
  type Behaviour,
  drip,
  flood,
  HostileServer,
  json,
  PRIVATE,
  refusal,
  silence,
} from "./hostile_server.ts";

const KEY = "sk-a-key-nobody-may-see";
const MODEL = "m";

interface Opened extends AsyncDisposable {
  call(signal?: AbortSignal): Promise<unknown>;
  health(): BackendHealth | undefined;
}

interface Subject {
  readonly name: string;
  readonly code: string;
  /** What a sound server answers to whatever is asked. */
  readonly sound: Behaviour;
  /** What it answers with these vectors or texts. */
  answer(values: readonly unknown[]): Behaviour;
  open(url: string, now: () => number): Promise<Opened>;
}

const bounds = (now: () => number) => ({
  timeoutMs: 300,
  maxBytes: 1_000_000,
  failures: 3,
  pauseMs: 1000,
  now,
});
const embeds = (embedder: Awaited<ReturnType<typeof ollamaEmbedder>>): Opened => ({
  call: (signal) => embedder.embed(["the text nobody may see"], { purpose: "document", signal }),
  health: () => embedder.health?.(),
  [Symbol.asyncDispose]: () => embedder[Symbol.asyncDispose](),
});
const chats = (model: Awaited<ReturnType<typeof ollamaLanguageModel>>): Opened => ({
  call: (signal) => model.chat([{ role: "user", content: "the text nobody may see" }], { signal }),
  health: () => model.health?.(),
  [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
});

const ollama = {
  vectors: (values: readonly unknown[]) => ({ embeddings: values, models: [] }),
  texts: ([content]: readonly unknown[]) => ({ message: { content } }),
};
const openai = {
  vectors: (values: readonly unknown[]) => ({
    data: values.map((embedding, index) => ({ embedding, index })),
  }),
  texts: ([content]: readonly unknown[]) => ({ choices: [{ message: { content } }] }),
};

const EMBEDDERS: readonly Subject[] = [
  {
    name: "ollama's embedder",
    code: "embedding_unavailable",
    sound: json(ollama.vectors([[3, 4]])),
    answer: (values) => json(ollama.vectors(values)),
    open: async (url, now) =>
      embeds(await ollamaEmbedder({ url, model: MODEL, bounds: bounds(now) })),
  },
  {
    name: "openai's embedder",
    code: "embedding_unavailable",
    sound: json(openai.vectors([[3, 4]])),
    answer: (values) => json(openai.vectors(values)),
    open: async (url, now) =>
      embeds(
        await openaiEmbedder({
          base: `${url}/v1`,
          model: MODEL,
          apiKey: new Secret(KEY),
          bounds: bounds(now),
        }),
      ),
  },
];
const MODELS: readonly Subject[] = [
  {
    name: "ollama's language model",
    code: "llm_unavailable",
    sound: json(ollama.texts(["Green."])),
    answer: (values) => json(ollama.texts(values)),
    open: async (url, now) =>
      chats(await ollamaLanguageModel({ url, model: MODEL, bounds: bounds(now) })),
  },
  {
    name: "openai's language model",
    code: "llm_unavailable",
    sound: json(openai.texts(["Green."])),
    answer: (values) => json(openai.texts(values)),
    open: async (url, now) =>
      chats(
        await openaiLanguageModel({
          base: `${url}/v1`,
          model: MODEL,
          apiKey: new Secret(KEY),
          bounds: bounds(now),
        }),
      ),
  },
];
const ALL = [...EMBEDDERS, ...MODELS];

/** Everything an error says, to whoever gets it and to the log. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.name} ${error.message} ${error.stack} ${Deno.inspect(error)} ${
    everythingIn(error.cause)
  }`;
}

/** The error of a call; it holds nothing of the upstream, the text or the key. */
async function errorOf(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.then(() => undefined, (reason) => reason);
  ok(error instanceof SvcError, `no SvcError: ${error}`);
  const text = everythingIn(error);
  for (const hidden of [PRIVATE, KEY, "nobody may see", "127.0.0.1"]) {
    ok(!text.includes(hidden), `${hidden} in: ${text}`);
  }
  return error;
}

const FAILURES: Readonly<Record<string, { behaviour: Behaviour; message: RegExp }>> = {
  "answers 500": { behaviour: refusal(500), message: /status 500/ },
  "answers 401": { behaviour: refusal(401), message: /refuses the API key/ },
  "answers 404": { behaviour: refusal(404), message: /does not know the model/ },
  "answers 429 without a pause": { behaviour: refusal(429), message: /asks for a pause/ },
  "says nothing": { behaviour: silence, message: /did not answer in time/ },
  "drips": { behaviour: drip, message: /did not answer in time/ },
  "answers without an end": { behaviour: flood, message: /too large/ },
  "answers no JSON": {
    behaviour: () => new Response(`{"${PRIVATE}`),
    message: /cannot be read/,
  },
  "answers nothing": { behaviour: () => new Response(""), message: /cannot be read/ },
  "answers another shape": {
    behaviour: json({ message: { content: 5 }, choices: [{ message: { content: {} } }] }),
    message: /gave/,
  },
  "answers null": { behaviour: json(null), message: /cannot be used/ },
  "redirects": {
    behaviour: () => new Response(null, { status: 307, headers: { location: "http://[::1]:1/" } }),
    message: /cannot be reached/,
  },
};

for (const subject of ALL) {
  for (const [name, { behaviour, message }] of Object.entries(FAILURES)) {
    Deno.test(`${subject.name}: a server that ${name} is unavailable, and says no more`, async () => {
      verifies("15-40");
      await using server = new HostileServer(subject.sound);
      await using opened = await subject.open(server.url, Date.now);
      server.behaviour = behaviour;
      const error = await errorOf(opened.call());
      deepStrictEqual([error.code, error.retryable], [subject.code, true]);
      ok(message.test(error.message), error.message);
      strictEqual(opened.health()?.status, "degraded");
      server.behaviour = subject.sound;
      await opened.call();
      strictEqual(opened.health()?.status, "ok");
    });
  }

  Deno.test(`${subject.name}: Retry-After is passed on and kept, and then forgotten`, async () => {
    verifies("15-41");
    let now = Date.parse("2026-03-01T00:00:00Z");
    await using server = new HostileServer(subject.sound);
    await using opened = await subject.open(server.url, () => now);
    for (const value of ["7", "Sun, 01 Mar 2026 00:00:07 GMT"]) {
      server.behaviour = refusal(429, { "retry-after": value });
      deepStrictEqual((await errorOf(opened.call())).retryAfter, 7);
      const { count } = server;
      now += 4000;
      server.behaviour = subject.sound;
      // The server is left alone, and whoever calls learns for how long.
      deepStrictEqual((await errorOf(opened.call())).retryAfter, 3);
      strictEqual(server.count, count);
      now += 3000;
      await opened.call();
      now = Date.parse("2026-03-01T00:00:00Z");
    }
  });

  Deno.test(`${subject.name}: calls fail at once after some failures, until a probe works`, async () => {
    let now = 0;
    await using server = new HostileServer(subject.sound);
    await using opened = await subject.open(server.url, () => now);
    server.behaviour = refusal(503);
    for (let i = 0; i < 3; i++) await errorOf(opened.call());
    deepStrictEqual(opened.health()?.status, "down");
    const { count } = server;
    deepStrictEqual((await errorOf(opened.call())).retryAfter, 1);
    strictEqual(server.count, count);
    now += 1000;
    await errorOf(opened.call());
    strictEqual(server.count, count + 1);
    // The pause after a probe that fails is twice as long.
    now += 1000;
    await errorOf(opened.call());
    strictEqual(server.count, count + 1);
    now += 1000;
    server.behaviour = subject.sound;
    await opened.call();
    strictEqual(opened.health()?.status, "ok");
  });

  Deno.test(`${subject.name}: a caller that leaves ends the call`, async () => {
    await using server = new HostileServer(subject.sound);
    await using opened = await subject.open(server.url, Date.now);
    const asked = Promise.withResolvers<void>();
    server.behaviour = (request) => {
      asked.resolve();
      return silence(request);
    };
    const reason = new Error("left");
    const controller = new AbortController();
    const call = opened.call(controller.signal);
    await asked.promise;
    controller.abort(reason);
    await rejects(call, (error) => error === reason);
    await server.left;
    strictEqual(opened.health()?.status, "ok");
  });

  Deno.test(`${subject.name}: what is closed ends the calls under way and takes no others`, async () => {
    await using server = new HostileServer(subject.sound);
    const opened = await subject.open(server.url, Date.now);
    server.behaviour = silence;
    const call = errorOf(opened.call());
    await opened[Symbol.asyncDispose]();
    for (const error of [await call, await errorOf(opened.call())]) {
      deepStrictEqual([error.code, error.retryable], [subject.code, false]);
    }
  });
}

const VECTORS: Readonly<Record<string, readonly unknown[]>> = {
  "no vector": [],
  "two vectors for one text": [[3, 4], [4, 3]],
  "an empty vector": [[]],
  "a vector of another length": [[1, 2, 3]],
  "a vector of nothing": [[0, 0]],
  "NaN, as JSON writes it": [[null, 1]],
  "numbers beyond all bounds": [[1e300, 1e300]],
  "words for numbers": [["3", "4"]],
  "no list": [{ 0: 3, 1: 4 }],
};
for (const subject of EMBEDDERS) {
  for (const [name, values] of Object.entries(VECTORS)) {
    Deno.test(`${subject.name}: ${name} is refused`, async () => {
      verifies("15-42");
      await using server = new HostileServer(subject.sound);
      await using opened = await subject.open(server.url, Date.now);
      deepStrictEqual(await opened.call(), [[Float32Array.of(0.6, 0.8)]]);
      server.behaviour = subject.answer(values);
      const error = await errorOf(opened.call());
      deepStrictEqual([error.code, error.retryable], ["embedding_unavailable", true]);
      strictEqual(opened.health()?.status, "degraded");
    });
  }
}

for (const subject of MODELS) {
  Deno.test(`${subject.name}: a model that says nothing answers an empty text`, async () => {
    await using server = new HostileServer(subject.sound);
    await using opened = await subject.open(server.url, Date.now);
    for (const value of ["", null]) {
      server.behaviour = subject.answer([value]);
      strictEqual(await opened.call(), "");
    }
  });
}

Deno.test("a server that is too slow for a batch gets smaller ones", async () => {
  const sizes: number[] = [];
  const slow: Behaviour = async (request) => {
    const { input } = await request.clone().json();
    sizes.push(input.length);
    if (input.length > 4) return await silence(request);
    return Response.json(ollama.vectors(input.map(() => [3, 4])));
  };
  await using server = new HostileServer(json(ollama.vectors([[3, 4]])));
  await using embedder = await ollamaEmbedder({
    url: server.url,
    model: MODEL,
    bounds: { ...bounds(Date.now), failures: 10 },
  });
  server.behaviour = slow;
  const texts = Array.from({ length: 16 }, (_, i) => `text ${i}`);
  const embed = () => embedder.embed(texts, { purpose: "document" });
  await errorOf(embed());
  await errorOf(embed());
  strictEqual((await embed()).length, 16);
  deepStrictEqual(sizes, [16, 8, 8, 4, 4, 4, 4]);
});

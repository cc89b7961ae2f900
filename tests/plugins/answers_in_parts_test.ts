import assert from "node:assert/strict";
import { mock } from "node:test";
import { boundedRpc } from "../../plugins/sui/chain/bounded_rpc.ts";
import { postToEnoki } from "../../plugins/sui/sponsors/enoki/sponsor.ts";
import { boundedFetch } from "../../plugins/shared/models/bounded_fetch.ts";
import { KeyServerFetch } from "../../plugins/sui/seal/key_server_fetch.ts";
import { exchange } from "../../plugins/sui/walrus/exchange.ts";
import { boundedHttp } from "../../plugins/sui/walrus/upload/bounded_http.ts";
import { Secret } from "../../src/interfaces/plugin.ts";
import { turns } from "../within.ts";

const ANSWER = { data: { text: "a text of many bytes" } };
const ADDRESS = "http://127.0.0.1:9/";
const bounds = {
  maxBytes: 1000,
  timeoutMs: 10_000,
  idleMs: 10_000,
  signal: new AbortController().signal,
  now: Date.now,
};

/** A byte at a time, all in one buffer: a part that is kept as it came changes later. */
function crumbs(answer: unknown, onPart = () => {}): Response {
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  const buffer = new Uint8Array(65_536);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at === bytes.length) return controller.close();
      onPart();
      buffer[0] = bytes[at++]!;
      controller.enqueue(buffer.subarray(0, 1));
    },
  }, { highWaterMark: 0 });
  return new Response(body);
}

const READERS: readonly (readonly [name: string, read: () => Promise<unknown>])[] = [
  ["a model server", async () => await (await boundedFetch(bounds)(ADDRESS)).json()],
  ["a node", async () => await (await boundedRpc(bounds)(ADDRESS)).json()],
  ["a key server", async () => {
    return await (await new KeyServerFetch(bounds.signal).fetch(ADDRESS)).json();
  }],
  ["an upload relay", async () => {
    return await (await boundedHttp({ ...bounds, part: "relay" })(ADDRESS)).json();
  }],
  [
    "an aggregator",
    async () => JSON.parse(new TextDecoder().decode(await exchange(ADDRESS, {}, bounds))),
  ],
  ["Enoki", async () => {
    const options = { base: ADDRESS, apiKey: new Secret("a") };
    return { data: await postToEnoki(options, "", {}, undefined) };
  }],
];

for (const [name, read] of READERS) {
  Deno.test(`parts of an answer are not held with their buffers: ${name}`, async () => {
    const fetching = mock.method(globalThis, "fetch", () => Promise.resolve(crumbs(ANSWER)));
    try {
      assert.deepEqual(await read(), ANSWER);
    } finally {
      fetching.mock.restore();
    }
  });
}

/** More bytes than come in one turn, each in a part of its own. */
const LONG = { data: { text: "a".repeat(500) } };

for (const [name, read] of READERS) {
  Deno.test(`an answer in crumbs leaves others their turn: ${name}`, async () => {
    let parts = 0;
    const response = crumbs(LONG, () => parts++);
    const fetching = mock.method(globalThis, "fetch", () => Promise.resolve(response));
    try {
      const reading = read();
      await turns();
      assert.ok(parts < 500, "nobody else had a turn before the end");
      assert.deepEqual(await reading, LONG);
    } finally {
      fetching.mock.restore();
    }
  });
}

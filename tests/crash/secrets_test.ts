import assert from "node:assert/strict";
import { Haystack, hexSpellings, textSpellings } from "./secrets.ts";

const encoder = new TextEncoder();
const TEXT = "I like tea?";
const KEY = "ff0102fb3ef0fffe1011";

const haystack = new Haystack([...textSpellings("text", TEXT), ...hexSpellings("key", KEY)]);

function find(bytes: Uint8Array | string): string[] {
  return [...haystack.find(typeof bytes === "string" ? encoder.encode(bytes) : bytes)];
}

Deno.test("a secret is found in every spelling and at every offset", () => {
  const bytes = encoder.encode(TEXT);
  const wide = (text: string, order: number) =>
    Uint8Array.from([...text].flatMap((c) => order ? [c.charCodeAt(0), 0] : [0, c.charCodeAt(0)]));
  for (const before of ["", "a", "ab", "abc"]) {
    const run = encoder.encode(`${before}${TEXT}xy`);
    assert.deepEqual(find(run), ["text"]);
    assert.deepEqual(find(run.toHex()), ["text"]);
    assert.deepEqual(find(run.toHex().toUpperCase()), ["text"]);
    assert.deepEqual(find(run.toBase64()), ["text"]);
    assert.deepEqual(find(wide(before + TEXT, 0)), ["text"]);
    assert.deepEqual(find(wide(before + TEXT, 1)), ["text"]);
    const key = Uint8Array.from([...encoder.encode(before), ...Uint8Array.fromHex(KEY), 7]);
    assert.deepEqual(find(key), ["key"]);
    assert.deepEqual(find(key.toBase64()), ["key"]);
    assert.deepEqual(find(key.toBase64({ alphabet: "base64url" })), ["key"]);
    assert.deepEqual(find(wide(key.toHex(), 1)), ["key"]);
  }
  assert.deepEqual(find(bytes.subarray(1)), []);
  assert.deepEqual(find("I like teapots and keys"), []);
});

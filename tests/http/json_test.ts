import assert from "node:assert/strict";
import { parseJson } from "../../src/http/request.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const SUITE = new URL("../testdata/json/test_parsing/", import.meta.url);
const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("JSON is accepted and anything else refused, file by file", async () => {
  verifies("3-28", "5-8", "4.3-21");
  await using svc = await startRelayer();
  const counts = { y: 0, n: 0, i: 0 };
  for await (const { name } of Deno.readDir(SUITE)) {
    const body = await Deno.readFile(new URL(encodeURIComponent(name), SUITE));
    const { status, body: answer } = await svc.post("/api/stats", body);
    const malformed = answer.code === "malformed_json";
    assert.ok(status < 500, name);
    if (name.startsWith("y_")) {
      counts.y++;
      assert.ok(!malformed, name);
    } else if (name.startsWith("n_")) {
      counts.n++;
      assert.ok(malformed && status === 400, name);
    } else counts.i++;
  }
  assert.deepEqual(counts, { y: 95, n: 188, i: 35 });
});

Deno.test("nesting is limited to 64 levels, wherever the brackets are", () => {
  verifies("5-8");
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.ok(Array.isArray(parseJson(bytes(nested(64)))));
  const refused = [
    nested(65),
    "[".repeat(2_000_000),
    '{"a":'.repeat(65) + "1" + "}".repeat(65),
    `["\\"", ${nested(64)}]`,
  ];
  for (const text of refused) {
    assert.throws(() => parseJson(bytes(text)), { code: "malformed_json" }, text.slice(0, 20));
  }
  const accepted = [
    JSON.stringify("[".repeat(100)),
    JSON.stringify(['"', "[".repeat(100), "\\"]),
    `[${Array(100).fill("[]").join()}]`,
  ];
  for (const text of accepted) parseJson(bytes(text));
});

Deno.test("a refused body is not quoted", async () => {
  verifies("5-21", "3-27");
  await using svc = await startRelayer();
  const { body, text } = await svc.post("/api/remember", '{"text":"my secret",}');
  assert.equal(body.code, "malformed_json");
  assert.ok(!text.includes("secret"));
});

Deno.test("bytes that are no UTF-8, and a byte order mark, are no JSON", async () => {
  verifies("3-28");
  await using svc = await startRelayer();
  const json = [...bytes('{"namespace":"tea"}')];
  const bodies = [
    [0xef, 0xbb, 0xbf, ...json],
    [...bytes('{"namespace":"'), 0xff, ...bytes('"}')],
    [...bytes('{"namespace":"'), 0xed, 0xa0, 0x80, ...bytes('"}')],
    [...bytes('{"namespace":"'), 0xc0, 0x80, ...bytes('"}')],
    [0xff, 0xfe, ...json.flatMap((byte) => [byte, 0])],
    [],
  ];
  for (const body of bodies) {
    const answer = await svc.post("/api/stats", Uint8Array.from(body));
    assert.equal(`${answer.status} ${answer.body.code}`, "400 malformed_json");
  }
  assert.equal((await svc.post("/api/stats", Uint8Array.from(json))).status, 200);
});

Deno.test("members named like parts of a prototype are data", async () => {
  verifies("3-1", "2-5");
  await using svc = await startRelayer();
  const text = '{"text":"tea","__proto__":{"importance":1},"constructor":1,' +
    '"metadata":{"__proto__":"a","constructor":"b"}}';
  assert.equal((await svc.post("/api/remember", text)).status, 202);
  await svc.relayer.idle();
  const { body, text: answered } = await svc.post("/api/recall", { query: "tea" });
  assert.equal(body.results[0].importance ?? 0.5, 0.5);
  assert.ok(answered.includes('"metadata":{"__proto__":"a","constructor":"b"}'), answered);
  assert.equal(({} as Record<string, unknown>).importance, undefined);
});

Deno.test("of equal members the last counts; unknown ones and null are as if absent", async () => {
  verifies("3-1", "3-2", "2-9");
  await using svc = await startRelayer();
  const body = '{"namespace":"first","namespace":"last","unknown":{"deep":[1]}}';
  assert.equal((await svc.post("/api/stats", body)).body.namespace, "last");
  const nothing = { namespace: null, metadata: null, importance: null, expires_at: null };
  const { body: accepted } = await svc.post("/api/remember", { text: "tea", ...nothing });
  assert.equal(accepted.namespace, "default");
  const recall = { query: "tea", limit: null, mode: null, scoring_weights: null, min_score: null };
  assert.deepEqual(await svc.recall("tea", recall), ["tea"]);
});

import assert from "node:assert/strict";
import { parseBody } from "../../src/wire/request_members.ts";
import { ROUTES } from "../../src/wire/routes.ts";

const { body: RememberBody } = ROUTES["POST /api/remember"];
const { body: StatsBody } = ROUTES["POST /api/stats"];

/** An object each of whose members fails when it is read. */
function unread(count: number): Record<string, unknown> {
  const fail = (): never => assert.fail("a member was read");
  const members = Array.from(
    { length: count },
    (_, n) => [`m${n}`, { get: fail, enumerable: true }],
  );
  return Object.defineProperties({}, Object.fromEntries(members));
}

Deno.test("members that no rule names are not looked at", () => {
  const body = Object.defineProperty(unread(10), "namespace", { value: "a", enumerable: true });
  assert.deepEqual(parseBody(StatsBody, body), { namespace: "a" });
});

Deno.test("metadata with more members than can fit are refused unread", () => {
  const body = { text: "tea", metadata: unread(1025) };
  assert.throws(() => parseBody(RememberBody, body), { code: "invalid_metadata" });
});

Deno.test("an inherited member is none of the body's", () => {
  const body = Object.create({ namespace: "a" });
  assert.deepEqual(parseBody(StatsBody, body), { namespace: "default" });
});

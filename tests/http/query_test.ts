import assert from "node:assert/strict";
import fc from "fast-check";
import { queryOf } from "../../src/http/request.ts";
import { verifies } from "../requirements.ts";

const read = (query: string) => queryOf({ path: "/", query });

/** What `URLSearchParams` reads; of a repeated member the first. */
function asForm(query: string): Map<string, string> {
  return new Map([...new URLSearchParams(query)].reverse());
}

Deno.test("a query of UTF-8 is read as a form is", () => {
  verifies("10-13", "2-10");
  const pieces = ["x", "n=", "&", "=", "+", "%", "%4", "%zz", "%20", "%26", "%c3%A9", "\u20ac"];
  const query = fc.array(fc.constantFrom(...pieces), { maxLength: 12 });
  fc.assert(fc.property(query, (parts) => {
    const text = `?${parts.join("")}`;
    const [found, wanted] = [new Map(read(text)), asForm(text)];
    for (const members of [found, wanted]) members.delete(""); // no member has that name
    assert.deepEqual(found, wanted);
  }));
  const members = fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary" })));
  fc.assert(fc.property(members, (pairs) => {
    const text = `?${new URLSearchParams(pairs)}`;
    for (const [name, value] of asForm(text)) assert.equal(read(text).get(name), value);
  }));
});

Deno.test("bytes that are no UTF-8 become no text at all", () => {
  verifies("2-11");
  for (const bytes of ["%E9", "%ff%fe", "%C3", "%C0%AF", "%ED%A0%80", "%F8%88%80%80%80", "%80"]) {
    const value = read(`?a=x${bytes}y`).get("a") ?? "";
    assert.ok(!value.isWellFormed(), bytes);
    assert.ok(!value.includes("\ufffd"), bytes);
  }
  assert.equal(read("?a=%EF%BF%BD").get("a"), "\ufffd");
});

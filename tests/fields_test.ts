import assert from "node:assert/strict";
import { httpUrl } from "../src/fields.ts";

Deno.test("an address with a password is refused without repeating it", () => {
  const { parse } = httpUrl("SVC_X", "", "");
  assert.throws(() => parse("ftp://example.org"), /got "ftp:\/\/example.org"/);
  for (
    const text of [
      "https://ada:hunter2@example.org",
      "https://:hunter2@example.org",
      "ada:hunter2@example.org",
      "https://ada:hunter2@",
    ]
  ) {
    assert.throws(() => parse(text), ({ message }: Error) => !message.includes("hunter2"));
  }
});

import assert from "node:assert/strict";
import { headerSecret, httpUrl } from "../../src/interfaces/fields.ts";

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

Deno.test("a secret for a header takes the blanks around it off, and is not repeated", () => {
  const { parse } = headerSecret("SVC_X", "");
  assert.equal(parse("sk-abc\n")?.reveal(), "sk-abc");
  for (const text of ["sk-abc…xyz", "sk-abc xyz", " "]) {
    assert.throws(() => parse(text), { message: "must be visible ASCII characters" });
  }
});

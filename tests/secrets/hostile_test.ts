import assert from "node:assert/strict";
import fc from "fast-check";
import { findSecrets, redact } from "../../src/secrets/find.ts";

/** What begins a secret, or goes on with one, in every rule. */
const PIECES = [
  "a",
  "A",
  "7",
  "é",
  ":",
  "@",
  "=",
  ".",
  "-",
  "_",
  "/",
  '"',
  " ",
  "\n",
  "a:",
  "a@",
  "=@:",
  "4 ",
  "4111 ",
  "4111-1111-1111-1111 ",
  "0123456789",
  "://",
  "b://a:",
  "://a:a",
  "https://hooks.slack.com/services/",
  "AKIA",
  "-ghp_",
  "sk-ant-",
  "xoxb-",
  "eyJ",
  "eyJ.",
  "-eyJ",
  "eyJaaaaaaaa.",
  "-----BEGIN PRIVATE KEY-----",
  "-----END",
  "abandon ",
  "ability able ",
  "password",
  "password ",
  "password:",
  "password is ",
  "password for a ",
  "password to a.a.a.a.",
  'password="',
  "secret:a",
  "secret:?",
  'secret:{"a',
  "token ",
  "token is aaaaaaaaaaaaaaaaaaa ",
  "private key: 0x",
  " is my password",
  "비밀번호",
];

Deno.test("a quarter of a MiB of any piece is read, which nothing quadratic would end", () => {
  for (const piece of PIECES) {
    const text = piece.repeat(Math.ceil(262_144 / piece.length));
    for (const { start, end } of findSecrets(text)) assert.ok(start < end && end <= text.length);
  }
});

Deno.test("any mixture of pieces is read, and its findings stand in order", () => {
  const mixture = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(mixture, (pieces) => {
      const unit = pieces.join("");
      const text = unit.repeat(Math.ceil(32_768 / unit.length));
      const findings = findSecrets(text);
      let last = 0;
      for (const { start, end } of findings) {
        assert.ok(last <= start && start < end && end <= text.length);
        last = end;
      }
      assert.equal(redact(text, findings).includes("[redacted: "), findings.length > 0);
    }),
    { numRuns: 100 },
  );
});

import assert from "node:assert/strict";
import { secretTexts } from "../../eval/secrets.ts";
import { findSecrets, redact } from "../../src/secrets/find.ts";
import { SECRET_KINDS } from "../../src/secrets/kinds.ts";

/** What is found in a text, as `kind: value`. */
const found = (text: string): string[] =>
  findSecrets(text).map(({ kind, start, end }) => `${kind}: ${text.slice(start, end)}`);

Deno.test("every kind of secret is found in a sentence, whole and under its name", () => {
  const kinds = new Set<string>();
  for (const { kind, secret, text } of secretTexts(7)) {
    const findings = findSecrets(text);
    assert.ok(findings.some((finding) => finding.kind === kind), `no ${kind} in ${text}`);
    kinds.add(kind);
    // Of an address the password alone is the secret.
    if (kind === "connection_string") continue;
    assert.ok(!redact(text, findings).includes(secret), text);
  }
  assert.deepEqual([...kinds].sort(), Object.keys(SECRET_KINDS).sort());
});

Deno.test("what only stands for a secret, or is about one, is none", () => {
  const texts = [
    "my password manager is Bitwarden",
    "the password policy needs 14 characters",
    "password: ***",
    "API_KEY=<your key>",
    "export OPENAI_API_KEY=$OPENAI_API_KEY",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "My password was changed on 2026-01-03 by IT.",
    'The password is stored in 1Password under "home".',
    "password is SHA-256 hashed",
    "The token is ERC-20 compatible",
    "The private key lies in ~/.ssh/id_ed25519",
    "private key: /home/ada/.svc/relayer.key",
    "Her secret ingredient is cardamom.",
    "IBAN DE89 3704 0044 0532 0130 00",
    "Order number 4532 1234 5678 9010",
    "the test card 4242 4242 4242 4242 works",
    "uuid 123e4567-e89b-12d3-a456-426614174000 is my device",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "postgres://user:password@host/db is the form",
    '["https://svc.example:8443","ada@svc.example"]',
    "postgres://<user>:<password>@<host>/db",
    `${"AKIA"}IOSFODNN7EXAMPLE stands in the manual`,
    `gh${"p_"}${"x".repeat(36)}`,
    "use sk-… for OpenAI and sk-ant-… for Anthropic",
    "-----BEGIN PRIVATE KEY----- is how a PEM file begins",
    "pin 13 of the Arduino is an LED",
    "abandon ability able about above absent absorb abstract absurd abuse access accident",
    "large ".repeat(60),
    "Tracking number 1Z999AA10123456784",
  ];
  for (const text of texts) assert.deepEqual(found(text), [], text);
});

Deno.test("a value ends where its sentence goes on", () => {
  assert.deepEqual(found('My wifi password is "Hunter2", not more.'), ["password: Hunter2"]);
  assert.deepEqual(found("The PIN is 4821."), ["password: 4821"]);
  assert.deepEqual(found("PASSWORD=toor\nUSER=root"), ["password: toor"]);
  assert.deepEqual(found("Server=a;Password=Abc1x9;Database=b"), ["connection_string: Abc1x9"]);
  assert.deepEqual(found("It was Tr0ub4dor&3 is my password for home"), ["password: Tr0ub4dor&3"]);
  const long = "aB3dE5fG7hJ9".repeat(20);
  assert.deepEqual(found(`CLIENT_SECRET=${long} end`), [`api_token: ${long}`]);
  const nested = '{"secret":{"user":"ada","password":"Hunter2"},"note":"nothing else here"}';
  assert.deepEqual(found(nested), ["password: Hunter2"]);
  assert.deepEqual(found("redis://:s3cr3t9x@cache/0 now"), ["connection_string: s3cr3t9x"]);
});

Deno.test("where two rules find the same place the vendor's names it, and all of it goes", () => {
  const key = `sk-ant-api03-${"aB3-dE5_fG7".repeat(9)}`;
  const text = `API_KEY="${key}" works`;
  assert.deepEqual(found(text), [`anthropic_key: ${key}`]);
  assert.equal(redact(text, findSecrets(text)), 'API_KEY="[redacted: anthropic key]" works');
});

Deno.test("what was redacted holds no secret", () => {
  for (const { text } of secretTexts(11)) {
    assert.deepEqual(found(redact(text, findSecrets(text))), [], text);
  }
});

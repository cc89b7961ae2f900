import assert from "node:assert/strict";
import { EXTRACT_INSTRUCTIONS, EXTRACT_PROMPT_VERSION } from "../../src/memory/analyze/prompt.ts";
import { ASK_INSTRUCTIONS, ASK_PROMPT_VERSION } from "../../src/memory/ask.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

/** SHA-256 of the instructions of every version: changed instructions get a new version. */
const ASK: Readonly<Record<string, string>> = {
  "1": "7d7b1bdba0735e9ea57d5ad8d5e0078432f2aa7a6b8e3112bf45eab982e1476e",
};
const EXTRACT: Readonly<Record<string, string>> = {
  "1": "a3ce15119015c4655c58d809a53e0fa752f556345d828b35a0bacfa2dffd1444",
};

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}

Deno.test("instructions are those of their version, which /health shows", async () => {
  verifies("9-2");
  assert.equal(ASK[ASK_PROMPT_VERSION], await sha256(ASK_INSTRUCTIONS));
  assert.equal(EXTRACT[EXTRACT_PROMPT_VERSION], await sha256(EXTRACT_INSTRUCTIONS));
  await using svc = await startRelayer();
  const { body } = await svc.plain("GET", "/health");
  assert.deepEqual(body.prompt_versions, {
    extract: EXTRACT_PROMPT_VERSION,
    ask: ASK_PROMPT_VERSION,
  });
});

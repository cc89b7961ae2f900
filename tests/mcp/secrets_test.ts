import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { startSidecarTest } from "./fixture.ts";
import { fakeRelayer, result } from "./tool_calls.ts";

const PASSWORD = "Sunny42!kite";
const TEXT = `My wifi password is ${PASSWORD}.`;
const REFUSED =
  "Tool error: The text holds a secret (password, 12 characters at 20). Nothing was " +
  "saved. Save it again without the secret, and tell the user that secrets are not kept here " +
  "(code: secret_found)";

Deno.test("an agent learns what to do about a secret, and not the secret", async () => {
  verifies("12-27", "12-12", "10.15-2");
  await using test = await startSidecarTest();
  const refused = await result(test, "svc_remember", { text: TEXT });
  assert.equal(refused.isError, true);
  assert.equal(refused.content[0].text, REFUSED);
  const headers = test.headers(await test.svc.addKey(["read", "write", "manage"]));
  const memory_id = await test.svc.remember("My wifi is slow");
  const asked = await result(test, "svc_update", { memory_id, text: TEXT }, { headers });
  const { confirmation } = asked.structuredContent;
  const args = { memory_id, text: TEXT, confirmation };
  const updated = await result(test, "svc_update", args, { headers });
  assert.equal(updated.content[0].text, REFUSED);
});

Deno.test("svc_analyze says what it left out, and so does svc_remember where it is redacted", async () => {
  verifies("12-27");
  await using test = await startSidecarTest();
  const text = `I am allergic to peanuts. ${TEXT}`;
  const { content, structuredContent } = await result(test, "svc_analyze", { text });
  assert.match(content[0].text, /^Extracted \d fact.*\nLeft out: 1 × password\.\n\n1\. /);
  assert.equal(structuredContent.message, "Left out: 1 × password.");
  assert.ok(!JSON.stringify(structuredContent).includes(PASSWORD));
  const redacted = [{ kind: "aws_access_key", count: 2 }];
  const accepted = {
    memory_id: "m",
    job_id: "m",
    namespace: "default",
    recallable: true,
    redacted,
  };
  await using redacting = await startSidecarTest({
    fetch: fakeRelayer({ "/api/remember": accepted }),
  });
  const saved = await result(redacting, "svc_remember", { text: "tea" });
  const message = "Left out: 2 × aws access key.";
  assert.equal(saved.content[0].text, `Remembered in default. memory_id=m\n${message}`);
  assert.equal(saved.structuredContent.message, message);
});

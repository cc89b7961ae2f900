import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

/** Serves one body that breaks, through the relayer's stream, and reads it. */
const PROGRAM = `
import { relayedStream } from ${
  JSON.stringify(new URL("../../src/http/relayed_stream.ts", import.meta.url).href)
};
async function* pieces() {
  yield new TextEncoder().encode('{"half":');
  throw new Error("secret");
}
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
  const options = { stallMs: 60_000, endsAnywhere: false, onEnd() {} };
  const headers = { "content-type": "application/json" };
  return new Response(relayedStream(pieces(), options).readable, { headers });
});
const response = await fetch("http://127.0.0.1:" + server.addr.port);
console.log(await response.text().then(() => "whole", () => "broken"));
await server.shutdown();
`;

Deno.test("a body that breaks is seen to break, and leaves no stack in the log", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-net=127.0.0.1", "--ext=ts", "-"],
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(PROGRAM));
  await writer.close();
  const { stdout, stderr } = await child.output();
  assert.equal(new TextDecoder().decode(stdout), "broken\n");
  assert.equal(new TextDecoder().decode(stderr).trim(), "The sidecar broke off its answer");
});

import assert from "node:assert/strict";
import { readEvents, type ServerEvent } from "../../../cli/bridge/sessions/event_reader.ts";
import { linesOf, TOO_LONG } from "../../../cli/bridge/lines.ts";
import { endpointOf } from "../../../cli/bridge/sessions/sse_session.ts";
import { verifies } from "../../requirements.ts";

/** Bytes of a text in pieces of some size. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  // One buffer for all, as some platforms have it.
  const buffer = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    buffer.set(part);
    yield buffer.subarray(0, part.length);
    await Promise.resolve();
  }
}

const eventsIn = (text: string, size = text.length, most?: number): Promise<ServerEvent[]> =>
  Array.fromAsync(readEvents(pieces(text, Math.max(size, 1)), most));

Deno.test("events are read with LF and CRLF, however the stream is cut", async () => {
  verifies("13.3-7");
  const lines = [
    ":keepalive",
    "",
    "event: endpoint",
    "data: /api/mcp/messages?sessionId=1",
    "",
    "id: 7",
    "data:one",
    "data: two ä€😀",
    "",
    "event: empty",
    "",
    "data",
    "",
    "data: never ended",
  ];
  const wanted = [
    { name: "endpoint", data: "/api/mcp/messages?sessionId=1" },
    { name: "message", data: "one\ntwo ä€😀" },
    { name: "message", data: "" },
  ];
  for (const end of ["\n", "\r\n"]) {
    for (const size of [1, 2, 3, 7, 1000]) {
      assert.deepEqual(await eventsIn(lines.join(end), size), wanted);
    }
  }
});

Deno.test("a line or an event that is too long ends the stream with an error", async () => {
  verifies("13.3-7");
  await assert.rejects(eventsIn(`data: ${"x".repeat(100)}\n\n`, 10, 50), /too long/);
  await assert.rejects(eventsIn(`${"data: 123456789\n".repeat(10)}\n`, 10, 50), /too long/);
  assert.equal((await eventsIn(`data: ${"x".repeat(44)}\n\n`, 10, 50)).length, 1);
});

Deno.test("a host's line that is too long is skipped", async () => {
  const lines = await Array.fromAsync(linesOf(pieces(`a\n${"b".repeat(99)}\nc\r\nd`, 7), 50));
  assert.deepEqual(lines, ["a", TOO_LONG, "c", "d"]);
});

Deno.test("endpoints are absolute or relative addresses of the relayer's own origin", () => {
  verifies("13.3-7");
  const stream = "https://svc.example:8443/base/api/mcp/sse";
  const own = "https://svc.example:8443/api/mcp/messages?sessionId=1";
  for (const data of ["/api/mcp/messages?sessionId=1", own, ` ${own} `]) {
    assert.equal(endpointOf(data, stream), own);
  }
  assert.equal(
    endpointOf("messages?sessionId=1", stream),
    "https://svc.example:8443/base/api/mcp/messages?sessionId=1",
  );
  const strange = [
    "https://evil.example/api/mcp/messages",
    "//evil.example/api",
    "https://svc.example/api",
    "http://svc.example:8443/api",
    "https://user@svc.example:8443/api",
    "https://svc.example:8443@evil.example/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://",
  ];
  for (const data of strange) assert.throws(() => endpointOf(data, stream), /not its own/, data);
});

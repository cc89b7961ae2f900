import assert from "node:assert/strict";
import { relayedStream, type StreamFailure } from "../../src/http/relayed_stream.ts";
import { createLogger } from "../../src/log.ts";
import { verifies } from "../requirements.ts";
import { FakeSidecar, serve } from "./fake_sidecar.ts";

const EVENTS = { "content-type": "text/event-stream" };
const encoder = new TextEncoder();

/** An event stream whose events are written by the test. */
class Events {
  readonly #gone = Promise.withResolvers<void>();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly stream = new ReadableStream<Uint8Array>({
    start: (controller) => void (this.#controller = controller),
    cancel: () => this.#gone.resolve(),
  });
  /** Resolves when the relayer has left. */
  readonly gone: Promise<void> = this.#gone.promise;

  write(text: string): void {
    this.#controller.enqueue(encoder.encode(text));
  }

  end(): void {
    this.#controller.close();
  }

  answer = () => new Response(this.stream, { headers: EVENTS });
}

function textReader(response: Response): ReadableStreamDefaultReader<string> {
  return response.body!.pipeThrough(new TextDecoderStream()).getReader();
}

Deno.test("events pass one by one, unbuffered, and the sidecar's end is the client's", async () => {
  verifies("11-33");
  const events = new Events();
  await using sidecar = new FakeSidecar(events.answer);
  await using svc = await serve({ sidecar });
  const response = await fetch(`${svc.url}/api/mcp/sse`, {
    headers: { "accept-encoding": "gzip, br" },
  });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
  assert.equal(response.headers.get("content-encoding"), null);
  const reader = textReader(response);
  for (const text of ["event: endpoint\ndata: /x\n\n", ":keepalive\n\n", "data: é\n\n"]) {
    events.write(text);
    assert.equal((await reader.read()).value, text);
  }
  events.end();
  assert.equal((await reader.read()).done, true);
});

Deno.test("a client that leaves ends the sidecar's stream, idle or busy", async () => {
  verifies("11-14");
  for (const method of ["GET", "POST"]) {
    const events = new Events();
    await using sidecar = new FakeSidecar(events.answer);
    await using svc = await serve({ sidecar });
    const leave = new AbortController();
    const response = await fetch(`${svc.url}/api/mcp`, {
      method,
      signal: leave.signal,
      ...(method === "POST" ? { body: "{}" } : {}),
    });
    const reader = textReader(response);
    events.write("data: 1\n\n");
    await reader.read();
    leave.abort();
    await assert.rejects(reader.read());
    await events.gone;
  }
});

Deno.test("a client that leaves before the answer ends the request, and is no failure", async () => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using sidecar = new FakeSidecar((request) => {
    request.signal.addEventListener("abort", () => gone.resolve());
    asked.resolve();
    return gone.promise.then(() => new Response(null));
  });
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const logger = createLogger({ format: "json", level: "debug", write });
  await using svc = await serve({ sidecar, logger });
  const leave = new AbortController();
  const answer = fetch(`${svc.url}/api/mcp`, { method: "POST", body: "{}", signal: leave.signal });
  await asked.promise;
  leave.abort();
  await assert.rejects(answer);
  await gone.promise;
  const metrics = await (await fetch(`${svc.url}/metrics`)).text();
  assert.match(metrics, /route="\/api\/mcp",method="POST",status="499"\} 1/);
  assert.doesNotMatch(metrics, /svc_errors_total\{/);
  assert.deepEqual(lines.filter((line) => line.includes('"level":"error"')), []);
});

Deno.test("a sidecar that dies ends event streams cleanly and breaks other bodies", async () => {
  const events = new Events();
  const sidecar = new FakeSidecar(events.answer);
  await using svc = await serve({ sidecar });
  const stream = textReader(await fetch(`${svc.url}/api/mcp`));
  events.write("data: 1\n\n");
  await stream.read();

  const half = new Events();
  sidecar.answer = () =>
    new Response(half.stream, { headers: { "content-type": "application/json" } });
  const body = textReader(await fetch(`${svc.url}/api/mcp`, { method: "POST", body: "{}" }));
  half.write('{"half":');
  await body.read();

  await sidecar.kill();
  assert.equal((await stream.read()).done, true);
  await assert.rejects(body.read());
  const metrics = await (await fetch(`${svc.url}/metrics`)).text();
  assert.match(metrics, /svc_sidecar_failures_total\{reason="broken_stream"\} 2/);
});

Deno.test("what a client does not read is not made, and does not wait in the relayer", async () => {
  const MIB = 1024 * 1024;
  let made = 0;
  let waiting = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using sidecar = new FakeSidecar(() =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          made += 65_536;
          controller.enqueue(new Uint8Array(65_536));
          waiting.resolve();
          waiting = Promise.withResolvers<void>();
        },
        cancel: () => gone.resolve(),
      }, { highWaterMark: 0 }),
      { headers: EVENTS },
    )
  );
  await using svc = await serve({ sidecar });
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: svc.port });
  await connection.write(
    encoder.encode(`GET /api/mcp HTTP/1.1\r\nhost: localhost:${svc.port}\r\n\r\n`),
  );
  // Fills the kernel's buffers; the client has not read a byte.
  for (let quiet = false; !quiet;) {
    const idle = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => idle.resolve(true), 300);
    quiet = await Promise.race([waiting.promise.then(() => false), idle.promise]);
    clearTimeout(timer);
    assert.ok(made < 64 * MIB, "the sidecar's stream is not held back");
  }
  const before = made;
  // Reading makes room again: nothing was lost or cut.
  const more = waiting.promise;
  for (let read = 0; read < before;) read += await connection.read(new Uint8Array(MIB)) ?? before;
  await more;
  connection.close();
  await gone.promise;
});

/** A body of pieces the test hands out. */
async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield await Promise.resolve(encoder.encode(text));
}

Deno.test("a client that stalls for too long is left", async () => {
  const ends: (StreamFailure | undefined)[] = [];
  const ended = Promise.withResolvers<void>();
  const { readable } = relayedStream(pieces("a", "b"), {
    stallMs: 1,
    endsAnywhere: false,
    onEnd: (failure) => {
      ends.push(failure);
      ended.resolve();
    },
  });
  const reader = readable.getReader();
  assert.deepEqual((await reader.read()).value, encoder.encode("a"));
  await ended.promise;
  await assert.rejects(reader.read(), /does not read/);
  assert.deepEqual(ends, ["stalled"]);
});

Deno.test("a stream ends once, whoever ends it", async () => {
  for (const how of ["read", "end", "cancel"] as const) {
    const ends: (StreamFailure | undefined)[] = [];
    const stream = relayedStream(pieces("a"), {
      stallMs: 60_000,
      endsAnywhere: true,
      onEnd: (failure) => ends.push(failure),
    });
    if (how === "read") assert.equal(await new Response(stream.readable).text(), "a");
    if (how === "cancel") await stream.readable.cancel();
    stream.end();
    if (how === "end") assert.equal(await new Response(stream.readable).text(), "");
    assert.deepEqual(ends, [undefined]);
  }
});

Deno.test("a relayer that drains ends the streams clients listen on, not answers", async () => {
  const events = [new Events(), new Events()];
  let next = 0;
  await using sidecar = new FakeSidecar(() => events[next++]!.answer());
  await using svc = await serve({ sidecar });
  const listening = textReader(await fetch(`${svc.url}/api/mcp/sse`));
  const answering = textReader(await fetch(`${svc.url}/api/mcp`, { method: "POST", body: "{}" }));
  await svc.relayer.drain(1000);
  assert.equal((await listening.read()).done, true);
  await events[0]!.gone;
  events[1]!.write("data: 1\n\n");
  assert.equal((await answering.read()).value, "data: 1\n\n");
  const refused = await fetch(`${svc.url}/api/mcp`, { method: "POST", body: "{}" });
  assert.equal((await refused.json()).error.data.code, "shutting_down");
  events[1]!.end();
  assert.equal((await answering.read()).done, true);
});

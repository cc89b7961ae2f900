import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { within } from "../within.ts";
import { listenOn, RawClient, TRANSPORTS } from "./raw_client.ts";

const HOST = "host: localhost\r\n";
const GET = `GET / HTTP/1.1\r\n${HOST}\r\n`;
/** Soon over, but not before a busy machine has done a handshake, milliseconds. */
const SHORT = 500;
/** So long that only what a test is about can end first. */
const NEVER = 600_000;
const PATIENT = {
  headMs: NEVER,
  idleMs: NEVER,
  bodyMs: NEVER,
  paceAfterMs: NEVER,
  stallMs: NEVER,
} as const;

for (const transport of TRANSPORTS) {
  Deno.test(`${transport}: a head that does not come ends its connection`, async () => {
    verifies("3-68");
    const limits = { ...PATIENT, headMs: SHORT };
    await using listener = listenOn(transport, () => Promise.resolve(new Response("ok")), {
      limits,
    });
    using silent = await RawClient.open(listener.port, transport);
    assert.equal(await silent.rest(), "");

    using half = await RawClient.open(listener.port, transport);
    await half.send(`GET / HTTP/1.1\r\n${HOST}`);
    assert.match(await half.rest(), /^HTTP\/1\.1 408 Request Timeout\r\n.*connection: close/s);

    using dripped = await RawClient.open(listener.port, transport);
    let open = true;
    const answer = dripped.rest().finally(() => open = false);
    while (open) {
      await dripped.send("G");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.match(await answer, /^HTTP\/1\.1 408 /);

    // Behind an answer a head has as long again, and a connection that is not used is not one.
    using kept = await RawClient.open(listener.port, transport);
    await kept.send(GET);
    await kept.until("ok");
    await kept.send("GET");
    assert.match(await kept.rest(), /^HTTP\/1\.1 408 /);
  });

  Deno.test(`${transport}: a connection that is not used again is closed`, async () => {
    verifies("3-70");
    const limits = { ...PATIENT, idleMs: SHORT };
    await using listener = listenOn(transport, () => Promise.resolve(new Response("ok")), {
      limits,
    });
    using client = await RawClient.open(listener.port, transport);
    for (let i = 0; i < 2; i++) {
      await client.send(GET);
      await client.until("ok");
    }
    assert.equal(await client.rest(), "");
  });

  Deno.test(`${transport}: a body that comes too slowly fails, and its sender is told`, async () => {
    verifies("3-69");
    const paces = [{ bodyMs: SHORT }, { paceAfterMs: SHORT, bytesPerSecond: 1_000_000 }];
    for (const pace of paces) {
      await using listener = listenOn(
        transport,
        (request) => request.text().then(() => new Response(), () => new Response("late")),
        { limits: { ...PATIENT, ...pace } },
      );
      for (const body of ["content-length: 500\r\n\r\nx", "transfer-encoding: chunked\r\n\r\n1"]) {
        using client = await RawClient.open(listener.port, transport);
        await client.send(`POST / HTTP/1.1\r\n${HOST}${body}`);
        assert.match(await client.until("late"), /connection: close/);
      }
    }
  });

  Deno.test(`${transport}: a body that is not read at once is not a slow one`, async () => {
    const go = Promise.withResolvers<void>();
    const limits = { ...PATIENT, bodyMs: SHORT };
    await using listener = listenOn(transport, async (request) => {
      await go.promise;
      return new Response(`${(await request.bytes()).length} bytes`);
    }, { limits });
    using client = await RawClient.open(listener.port, transport);
    const length = 300_000;
    const sent = client.send(
      `POST / HTTP/1.1\r\n${HOST}content-length: ${length}\r\n\r\n${"x".repeat(length)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 2 * SHORT));
    go.resolve();
    assert.match(await client.until(`${length} bytes`), /^HTTP\/1\.1 200 /);
    await sent;
  });

  Deno.test(`${transport}: an answer that is not read is cut, events too`, async () => {
    verifies("3-70");
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      }, { highWaterMark: 0 });
    let left = Promise.withResolvers<void>();
    const limits = { ...PATIENT, stallMs: SHORT };
    await using listener = listenOn(transport, ({ signal }, { target }) => {
      signal.addEventListener("abort", () => left.resolve());
      const headers = { "content-type": target === "/events" ? "text/event-stream" : "text/plain" };
      const body = target === "/events" ? endless() : new Uint8Array(50_000_000);
      return Promise.resolve(new Response(body, { headers }));
    }, { limits });
    for (const target of ["/events", "/whole"]) {
      left = Promise.withResolvers();
      using client = await RawClient.open(listener.port, transport);
      await client.send(`GET ${target} HTTP/1.1\r\n${HOST}\r\n`);
      assert.match((await client.read())!, /^HTTP\/1\.1 200 /);
      await within(left.promise, () => `${target} is not cut`);
    }
  });

  Deno.test(`${transport}: an open stream is not idle`, async () => {
    let events!: ReadableStreamDefaultController<Uint8Array>;
    const limits = { ...PATIENT, headMs: SHORT, idleMs: SHORT, bodyMs: SHORT, stallMs: SHORT };
    await using listener = listenOn(transport, () => {
      const body = new ReadableStream<Uint8Array>({ start: (made) => void (events = made) });
      return Promise.resolve(
        new Response(body, { headers: { "content-type": "text/event-stream" } }),
      );
    }, { limits });
    using client = await RawClient.open(listener.port, transport);
    await client.send(GET);
    await client.until("\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, 2 * SHORT));
    events.enqueue(new TextEncoder().encode("data: late\n\n"));
    assert.match(await client.until("late"), /data: late/);
    events.close();
    await client.until("0\r\n\r\n");
  });

  Deno.test(`${transport}: whoever does not read the refusal of a body is not waited for`, async () => {
    await using listener = listenOn(
      transport,
      () => Promise.resolve(new Response("no", { status: 413 })),
    );
    using client = await RawClient.open(listener.port, transport);
    await client.send(`POST / HTTP/1.1\r\n${HOST}content-length: 99999999\r\n\r\n`);
    assert.match(await client.until("no"), /^HTTP\/1\.1 413 .*connection: close/s);
    // What is sent on is read up to a limit only, then the connection ends.
    await client.send("x".repeat(6_000_000));
    assert.equal(await client.rest(), "");
  });
}

Deno.test("tls: a handshake that does not come, or not whole, ends its connection", async () => {
  verifies("3-68");
  const limits = { ...PATIENT, headMs: SHORT };
  await using listener = listenOn("tls", () => Promise.resolve(new Response("ok")), { limits });
  // A hello of 512 bytes announced, and some of it.
  for (const text of ["", "\x16", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]) {
    using client = await RawClient.open(listener.port);
    await client.send(text);
    assert.equal(await client.rest(), "");
  }
  using plain = await RawClient.open(listener.port);
  await plain.send(GET);
  assert.ok(!(await plain.rest()).includes("HTTP"));
  // A whole record that holds no hello.
  for (let i = 0; i < 20; i++) {
    using client = await RawClient.open(listener.port);
    await client.send("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00");
    await client.rest();
  }
});

Deno.test("answers under way are given at the end; what waits is closed, what is late is cut", async () => {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<Response>();
  const listener = listenOn("plain", (_, { target }) => {
    if (target === "/never") return new Promise(() => {});
    if (target === "/now") return Promise.resolve(new Response("ok"));
    asked.resolve();
    return go.promise;
  });
  const open = async (target: string) => {
    const client = await RawClient.open(listener.port);
    await client.send(target && `GET ${target} HTTP/1.1\r\n${HOST}\r\n`);
    return client;
  };
  using silent = await open("");
  using never = await open("/never");
  using idle = await open("/now");
  await idle.until("ok");
  using busy = await open("/slow");
  await asked.promise;
  const ended = listener.shutdown(300);
  assert.equal(await silent.rest(), "");
  assert.equal(await idle.rest(), "");
  go.resolve(new Response("late"));
  assert.match(await busy.rest(), /connection: close.*late$/s);
  assert.equal(await never.rest(), "");
  await ended;
});

import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { listenOn, RawClient, type Transport, TRANSPORTS } from "./raw_client.ts";

/** Answers with what it was asked. */
async function echo(request: Request, { target }: { readonly target: string }): Promise<Response> {
  const { method, headers } = request;
  return Response.json([method, target, headers.get("x-a"), await request.text()]);
}

async function exchange(port: number, transport: Transport, bytes: string): Promise<string> {
  using client = await RawClient.open(port, transport);
  await client.send(bytes);
  return await client.rest();
}

const HOST = "host: localhost\r\n";
const post = (lines: string, body: string) =>
  `POST / HTTP/1.1\r\n${HOST}connection: close\r\n${lines}\r\n${body}`;
const SMUGGLED = "GET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n";

/** What servers read in two ways, by the status that it gets. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  400: [
    "hello\r\n\r\n",
    "\r\n\r\n",
    `get / HTTP/1.1\r\n${HOST}\r\n`,
    `GET  / HTTP/1.1\r\n${HOST}\r\n`,
    `GET / HTTP/1.1 \r\n${HOST}\r\n`,
    `GET / HTTP/2.0\r\n${HOST}\r\n`,
    `GET / http/1.1\r\n${HOST}\r\n`,
    `GET /\xc4\x8d HTTP/1.1\r\n${HOST}\r\n`,
    `GET health HTTP/1.1\r\n${HOST}\r\n`,
    `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
    // Who is asked.
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\nhost:\r\n\r\n",
    `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`,
    "GET / HTTP/1.1\r\nhost: a, b\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: a/../b@c\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: a:99999\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: [1:2]\r\n\r\n",
    `GET http://elsewhere.example/ HTTP/1.1\r\n${HOST}\r\n`,
    `GET http://localhost@elsewhere.example/ HTTP/1.1\r\n${HOST}\r\n`,
    `GET http://localhost?/ HTTP/1.1\r\n${HOST}\r\n`,
    `GET ftp://localhost/ HTTP/1.1\r\n${HOST}\r\n`,
    // Where a header ends.
    `GET / HTTP/1.1\n${HOST}\n`,
    `GET / HTTP/1.1\r\n${HOST}a: b\nc: d\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}a: b\rc: d\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}a: b\r\n folded\r\n\r\n`,
    `GET / HTTP/1.1\r\n folded: first\r\n${HOST}\r\n`,
    `GET / HTTP/1.1\r\n${HOST}a: \0\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}name : v\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}: no name\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}no colon\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}${"a: b\r\n".repeat(100)}\r\n`,
    // Where the body ends.
    post("content-length: 4\r\ntransfer-encoding: chunked\r\n", `0\r\n\r\n${SMUGGLED}`),
    post("transfer-encoding: chunked\r\ncontent-length: 4\r\n", `0\r\n\r\n${SMUGGLED}`),
    post("transfer-encoding: chunked, chunked\r\n", `0\r\n\r\n${SMUGGLED}`),
    post("transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n", SMUGGLED),
    post("transfer-encoding: identity\r\n", SMUGGLED),
    post("transfer-encoding: xchunked\r\n", SMUGGLED),
    post("transfer-encoding:\x0bchunked\r\n", SMUGGLED),
    post("content-length: 2\r\ncontent-length: 2\r\n", "{}"),
    post("content-length: 2, 2\r\n", "{}"),
    post("content-length: +2\r\n", "{}"),
    post("content-length: -2\r\n", "{}"),
    post("content-length: 0x2\r\n", "{}"),
    post("content-length: 2 2\r\n", "{}"),
    post("content-length:\r\n", "{}"),
    post("content-length: 1e1\r\n", "{}"),
    `POST / HTTP/1.0\r\n${HOST}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ...["+2\r\n{}\r\n0\r\n\r\n", "2;a=b\r\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n"].map((body) =>
      post("transfer-encoding: chunked\r\n", body)
    ),
    ...["2\n{}\n0\n\n", "2\r\n{}x\r\n0\r\n\r\n", "0\r\ntrailer: x\r\n\r\n", "\r\n", "2 \r\n{}"].map(
      (
        body,
      ) => post("transfer-encoding: chunked\r\n", body),
    ),
    post("transfer-encoding: chunked\r\n", "fffffffff\r\n"),
    post("transfer-encoding: chunked\r\n", "0".repeat(100)),
  ],
  414: [`GET /${"a".repeat(8200)} HTTP/1.1\r\n${HOST}\r\n`],
  417: [post("expect: 200-ok\r\ncontent-length: 2\r\n", "{}")],
  431: [
    `GET / HTTP/1.1\r\n${HOST}a: ${"a".repeat(25_000)}\r\n\r\n`,
    `GET /${"a".repeat(200_000)}`,
    `GET / HTTP/1.1\r\n${"a: b\r\n".repeat(10_000)}`,
    "x".repeat(200_000),
    "[".repeat(2_000_000),
  ],
  501: ["TRACE", "CONNECT", "TRACK"].map((method) => `${method} / HTTP/1.1\r\n${HOST}\r\n`),
};

for (const transport of TRANSPORTS) {
  Deno.test(`${transport}: what can be read in two ways is refused, and ends the connection`, async () => {
    verifies("3-61", "3-62", "3-63", "3-64", "3-65", "3-66");
    const asked: string[] = [];
    await using listener = listenOn(transport, async (request, info) => {
      await request.text();
      asked.push(info.target);
      return new Response("answered");
    });
    for (const [status, requests] of Object.entries(REFUSED)) {
      // A handshake takes longer than the rest of these.
      for (const bytes of requests.filter((_, i) => transport === "plain" || i % 8 === 0)) {
        const answer = await exchange(listener.port, transport, bytes);
        const label = JSON.stringify(bytes.slice(0, 150));
        assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} .*connection: close`, "s"), label);
        assert.equal(answer.split("HTTP/1.1").length, 2, `one answer to ${label}`);
      }
    }
    assert.ok(!asked.includes("/smuggled"));
  });

  Deno.test(`${transport}: requests are read as they were sent`, async () => {
    await using listener = listenOn(transport, echo);
    const bodyOf = async (bytes: string) => {
      const answer = await exchange(listener.port, transport, bytes);
      assert.match(answer, /^HTTP\/1\.1 200 /, bytes);
      return JSON.parse(answer.slice(answer.lastIndexOf("\r\n\r\n") + 4));
    };
    const end = "connection: close\r\n\r\n";
    const targets = ["/", "/a/../b", "//x", "/%2e%2e/%zz", "/a?b=/../c#d", "/\\..\\x", "/a;{}|\"'"];
    for (const target of targets) {
      const asked = await bodyOf(`GET ${target} HTTP/1.1\r\n${HOST}${end}`);
      assert.deepEqual(asked, ["GET", target, null, ""]);
    }
    assert.deepEqual(
      await bodyOf(`GET http://LOCALHOST/a/../b HTTP/1.1\r\n${HOST}${end}`),
      ["GET", "/a/../b", null, ""],
    );
    assert.deepEqual(
      await bodyOf(`PATCH / HTTP/1.1\r\nHost:localhost\r\nX-A:  1 \r\nx-a: 2\r\n${end}`),
      ["PATCH", "/", "1, 2", ""],
    );
    assert.equal((await bodyOf(`GET / HTTP/1.0\r\n${HOST}\r\n`))[1], "/");
    // A body of a GET belongs to the request, and to nobody else.
    assert.deepEqual(
      await bodyOf(
        `GET / HTTP/1.1\r\n${HOST}content-length: ${SMUGGLED.length}\r\n${end}${SMUGGLED}`,
      ),
      ["GET", "/", null, ""],
    );
    const chunked = "Transfer-Encoding: Chunked\r\n";
    assert.deepEqual(await bodyOf(post(chunked, "2\r\nab\r\nA\r\n0123456789\r\n0\r\n\r\n")), [
      "POST",
      "/",
      null,
      "ab0123456789",
    ]);
  });

  Deno.test(`${transport}: requests that come together are answered in order`, async () => {
    verifies("3-71");
    await using listener = listenOn(transport, echo);
    const chunked =
      `POST /2 HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    const all = [
      `POST /1 HTTP/1.1\r\n${HOST}content-length: 2\r\n\r\n{}`,
      chunked,
      `GET /3 HTTP/1.1\r\n${HOST}\r\n`,
      `GET /4 HTTP/1.1\r\n${HOST}connection: Keep-Alive, Close\r\n\r\n`,
      SMUGGLED,
    ].join("");
    const answers = await exchange(listener.port, transport, all);
    const bodies = answers.match(/\[.*?\]/g)?.map((body) => JSON.parse(body)[1]);
    assert.deepEqual(bodies, ["/1", "/2", "/3", "/4"]);
  });

  Deno.test(`${transport}: a head, a body and chunks may come byte by byte`, async () => {
    await using listener = listenOn(transport, echo);
    const bytes = post("transfer-encoding: chunked\r\n", "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
    using client = await RawClient.open(listener.port, transport);
    for (const byte of bytes) await client.send(byte);
    assert.match(await client.rest(), /\["POST","\/",null,"abc"\]$/);
  });

  Deno.test(`${transport}: a body in chunks of one byte, or of any, is what it was`, async () => {
    await using listener = listenOn(
      transport,
      async (request) => new Response(await request.bytes()),
    );
    const body = Array.from({ length: 20_000 }, (_, i) => String.fromCharCode(97 + i % 26)).join(
      "",
    );
    for (const size of [1, 7, 5000, 20_000]) {
      let chunks = "";
      for (let at = 0; at < body.length; at += size) {
        const piece = body.slice(at, at + size);
        chunks += `${piece.length.toString(16)}\r\n${piece}\r\n`;
      }
      const bytes = post("transfer-encoding: chunked\r\n", `${chunks}0\r\n\r\n`);
      const answer = await exchange(listener.port, transport, bytes);
      assert.ok(answer.endsWith(`\r\n\r\n${body}`), `chunks of ${size}`);
      // Whatever is wrong far behind is wrong.
      const wrong = post("transfer-encoding: chunked\r\n", `${chunks}x\r\n\r\n`);
      assert.match(await exchange(listener.port, transport, wrong), /^HTTP\/1\.1 400 /);
    }
  });

  Deno.test(`${transport}: a client that waits to be asked for its body is asked`, async () => {
    await using listener = listenOn(
      transport,
      (request) =>
        new URL(request.url).pathname === "/refused"
          ? Promise.resolve(new Response("no", { status: 413 }))
          : request.text().then((text) => new Response(text)),
    );
    const expect = "expect: 100-continue\r\ncontent-length: 3\r\n\r\n";
    using asked = await RawClient.open(listener.port, transport);
    await asked.send(`POST / HTTP/1.1\r\n${HOST}${expect}`);
    assert.equal(await asked.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    await asked.send("abc");
    assert.match(await asked.until("abc"), /^HTTP\/1\.1 200 /);

    using refused = await RawClient.open(listener.port, transport);
    await refused.send(`POST /refused HTTP/1.1\r\n${HOST}${expect}`);
    const answer = await refused.until("no");
    assert.match(answer, /^HTTP\/1\.1 413 .*connection: close/s);
  });

  Deno.test(`${transport}: answers have the framing that their request and status allow`, async () => {
    const stream = () =>
      new Response(ReadableStream.from([new TextEncoder().encode("data: 1\n\n")]), {
        headers: { "content-type": "text/event-stream" },
      });
    await using listener = listenOn(transport, (_, { target }) =>
      Promise.resolve(
        target === "/events"
          ? stream()
          : target === "/none"
          ? new Response(null, { status: 204 })
          : new Response("body", { headers: { "content-length": "999", connection: "x" } }),
      ), { lines: "x-every: answer\r\n" });
    const get = (method: string, target: string, version = "1.1") =>
      exchange(
        listener.port,
        transport,
        `${method} ${target} HTTP/${version}\r\n${HOST}connection: close\r\n\r\n`,
      );
    const whole = await get("GET", "/");
    assert.match(whole, /\r\ndate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/);
    assert.match(whole, /content-length: 4\r\n\r\nbody$/);
    assert.ok(!/connection: x|999/.test(whole));
    assert.match(whole, /\r\nx-every: answer\r\n/);
    assert.match(await get("HEAD", "/"), /content-length: 999\r\n\r\n$/);
    assert.ok(!/content-length|transfer-encoding/.test(await get("GET", "/none")));
    assert.match(await get("GET", "/events"), /chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n$/);
    const old = await get("GET", "/events", "1.0");
    assert.match(old, /\r\n\r\ndata: 1\n\n$/);
    assert.ok(!/chunked/.test(old));
  });
}

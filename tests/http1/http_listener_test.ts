import assert from "node:assert/strict";
import { HttpConnection } from "../../src/http1/http_connection.ts";
import { CERTIFICATES, listenOn, RawClient } from "./raw_client.ts";
import { type HttpListener, listenHttp } from "../../src/http1/http_listener.ts";

type Answer = (request: Request) => Promise<Response>;

function listen(answer: Answer, onError: (thrown: unknown) => void = () => {}): HttpListener {
  return listenHttp({ hostname: "127.0.0.1", port: 0, answer, onError });
}

const url = ({ port }: HttpListener) => `http://127.0.0.1:${port}`;
const connect = ({ port }: HttpListener) => Deno.connect({ hostname: "127.0.0.1", port });
const echo: Answer = async (request) => {
  const { method, headers } = request;
  const { pathname, search } = new URL(request.url);
  return Response.json([method, pathname + search, headers.get("x-a"), await request.text()]);
};

Deno.test("requests and answers pass as they are, many on one connection", async () => {
  await using listener = listen(echo);
  for (let i = 0; i < 3; i++) {
    const headers = { "x-a": String(i) };
    const posted = await fetch(`${url(listener)}/a%2Fb?c=%20`, {
      method: "POST",
      body: "é".repeat(50_000),
      headers,
    });
    assert.equal(posted.headers.get("content-type"), "application/json");
    const body = "é".repeat(50_000);
    assert.deepEqual(await posted.json(), ["POST", "/a%2Fb?c=%20", String(i), body]);
    const got = await fetch(url(listener), { headers });
    assert.deepEqual(await got.json(), ["GET", "/", String(i), ""]);
  }
  using connection = await connect(listener);
  const request = "DELETE /x HTTP/1.1\r\nhost: x\r\nX-A: 1, 2\r\n\r\n";
  const last = "DELETE /y HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
  await connection.write(new TextEncoder().encode(request + last));
  const text = await new Response(connection.readable).text();
  assert.match(text, /^HTTP\/1\.1 200 \r\ncontent-type: application\/json\r\ndate: .* GMT\r\n/);
  assert.match(text, /\r\ncontent-length: 25\r\n/);
  assert.match(text, /\["DELETE","\/x","1, 2",""\]HTTP\/1\.1 200 .*\["DELETE","\/y",null,""\]$/s);
});

Deno.test("a body that nobody reads does not cost its sender the answer", async () => {
  await using listener = listen(() => Promise.resolve(new Response("no", { status: 415 })));
  const connection = await HttpConnection.open(url(listener));
  const headers = new Headers();
  for (let i = 0; i < 3; i++) {
    // More than the buffers of a connection hold.
    const body = new Uint8Array(4_000_000);
    const answer = await connection.send({ method: "POST", target: "/", headers, body });
    assert.equal(answer.status, 415);
    assert.equal(new TextDecoder().decode((await answer.body?.next())?.value ?? undefined), "no");
    assert.equal((await answer.body?.next())?.done, true);
  }
  connection.close();

  using short = await connect(listener);
  await short.write(
    new TextEncoder().encode("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhe"),
  );
  short.closeWrite();
  const text = await new Response(short.readable).text();
  assert.match(text, /^HTTP\/1\.1 415 .*\r\n\r\nno$/s);

  using large = await connect(listener);
  await large.write(
    new TextEncoder().encode("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999\r\n\r\n"),
  );
  assert.match(await new Response(large.readable).text(), /^HTTP\/1\.1 415 /);
});

Deno.test("the bytes of a header's value are what they were", async () => {
  await using listener = listen(({ headers }) =>
    Promise.resolve(new Response(null, { headers: { "x-b": headers.get("x-a") ?? "" } }))
  );
  const connection = await HttpConnection.open(url(listener));
  for (const value of ["日本語 €", "voilà", "\u00a0", "tab\tinside"]) {
    const bytes = String.fromCharCode(...new TextEncoder().encode(value));
    const headers = new Headers({ "x-a": bytes });
    const answer = await connection.send({ method: "GET", target: "/", headers });
    assert.equal(answer.headers.get("x-b"), bytes, value);
  }
  connection.close();
});

Deno.test("events pass as they come, and the end of either side is the other's", async () => {
  let events!: ReadableStreamDefaultController<Uint8Array>;
  let left = Promise.withResolvers<void>();
  await using listener = listen(() => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (events = controller),
      cancel: () => left.resolve(),
    });
    return Promise.resolve(
      new Response(body, { headers: { "content-type": "text/event-stream" } }),
    );
  });
  const write = (text: string) => events.enqueue(new TextEncoder().encode(text));
  const whole = await fetch(url(listener));
  const reader = whole.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (const text of ["data: 1\n\n", `data: ${"é".repeat(40_000)}\n\n`]) {
    write(text);
    let read = "";
    while (read.length < text.length) read += (await reader.read()).value;
    assert.equal(read, text);
  }
  events.close();
  assert.equal((await reader.read()).done, true);

  const gone = new AbortController();
  const response = await fetch(url(listener), { signal: gone.signal });
  gone.abort();
  await left.promise;
  await assert.rejects(response.text());

  left = Promise.withResolvers();
  const broken = await fetch(url(listener));
  events.error(new Error("The client does not read"));
  await assert.rejects(broken.text());
});

Deno.test("what is there together is one write, and a head does not wait for long", async () => {
  const events = { "content-type": "text/event-stream" };
  const bytes = (text: string) => new TextEncoder().encode(text);
  let late!: ReadableStreamDefaultController<Uint8Array>;
  await using listener = listen(({ url }) => {
    const pieces = ["data: 1\n\n", "", "data: 2\n\n"];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (!url.endsWith("/broken")) return;
        if (piece === undefined) controller.error(new Error("broken"));
        else controller.enqueue(bytes(piece));
      },
      start(controller) {
        late = controller;
        if (!url.endsWith("/now")) return;
        controller.enqueue(bytes("data: 1\n\n"));
        controller.enqueue(new Uint8Array());
        controller.enqueue(bytes("data: 2\n\n"));
        controller.close();
      },
    });
    return Promise.resolve(new Response(body, { headers: events }));
  });
  using connection = await connect(listener);
  const buffer = new Uint8Array(4096);
  const read = async () =>
    new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
  await connection.write(bytes("GET /now HTTP/1.1\r\nhost: x\r\n\r\n"));
  assert.match(
    await read(),
    /^HTTP\/1\.1 200 .*\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n$/s,
  );
  await connection.write(bytes("GET /late HTTP/1.1\r\nhost: x\r\n\r\n"));
  assert.match(await read(), /^HTTP\/1\.1 200 .*\r\n\r\n$/s);
  late.enqueue(bytes("data: 3\n\n"));
  assert.equal(await read(), "9\r\ndata: 3\n\n\r\n");
  late.close();
  assert.equal(await read(), "0\r\n\r\n");
  // What breaks off breaks off behind what came before.
  await connection.write(bytes("GET /broken HTTP/1.1\r\nhost: x\r\n\r\n"));
  const broken = await new Response(connection.readable).text();
  assert.match(
    broken,
    /^HTTP\/1\.1 200 .*\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n$/s,
  );
});

Deno.test("a client that leaves before the answer aborts its request", async () => {
  let asked = Promise.withResolvers<void>();
  let aborted = Promise.withResolvers<void>();
  await using listener = listen(async (request) => {
    request.signal.addEventListener("abort", () => aborted.resolve());
    await request.text();
    asked.resolve();
    await aborted.promise;
    return new Response();
  });
  for (const init of [{}, { method: "POST", body: "x" }]) {
    asked = Promise.withResolvers();
    aborted = Promise.withResolvers();
    const gone = new AbortController();
    const answer = fetch(url(listener), { ...init, signal: gone.signal });
    await asked.promise;
    gone.abort();
    await assert.rejects(answer);
    await aborted.promise;
  }
});

Deno.test("an answer that throws is 500 and noted; disposal waits for answers under way", async () => {
  const noted: unknown[] = [];
  const failure = new Error("secret");
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<Response>();
  const listener = listen((request) => {
    if (request.method === "POST") return Promise.reject(failure);
    asked.resolve();
    return go.promise;
  }, (thrown) => noted.push(thrown));
  const failed = await fetch(url(listener), { method: "POST" });
  assert.equal(failed.status, 500);
  assert.doesNotMatch(await failed.text(), /secret/);
  assert.deepEqual(noted, [failure]);
  const answer = fetch(url(listener));
  await asked.promise;
  const closed = listener[Symbol.asyncDispose]();
  go.resolve(new Response("late"));
  assert.equal(await (await answer).text(), "late");
  await closed;
  await listener.shutdown(0);
  await assert.rejects(connect(listener), Deno.errors.ConnectionRefused);
});

Deno.test("connections are kept no longer than their next answer when the listener lets go", async () => {
  const { promise: first, resolve: answerFirst } = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  await using listener = listen((request) => {
    if (!request.url.endsWith("/first")) return Promise.resolve(new Response("ok"));
    asked.resolve();
    return first;
  });
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const texts: Promise<string>[] = [];
  using busy = await connect(listener);
  using idle = await connect(listener);
  const encoder = new TextEncoder();
  await busy.write(encoder.encode(request("/first")));
  await asked.promise;
  listener.closeAfterAnswers();
  answerFirst(new Response("ok"));
  texts.push(new Response(busy.readable).text());
  await idle.write(encoder.encode(request("/")));
  texts.push(new Response(idle.readable).text());
  using late = await connect(listener);
  await late.write(encoder.encode(request("/")));
  texts.push(new Response(late.readable).text());
  for (const text of await Promise.all(texts)) {
    assert.match(text, /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n.*ok$/s);
  }
});

/** Makes so many connections to a port at a time, and breaks each off at once. */
const BREAKING_OFF = `import net from "node:net";
  onmessage = async ({ data: { port, count } }) => {
    await Promise.all(Array.from({ length: count }, () => new Promise((over) => {
      const socket = net.connect(port, "127.0.0.1", () => over(socket.resetAndDestroy()));
      socket.on("error", over);
    })));
    postMessage("over");
  };
  postMessage("ready");`;

Deno.test("connections that are broken off before they are taken cost nobody anything", async () => {
  const errors: unknown[] = [];
  await using listener = listen(echo, (error) => errors.push(error));
  const code = `data:text/javascript,${encodeURIComponent(BREAKING_OFF)}`;
  const worker = new Worker(code, { type: "module" });
  const told = () => new Promise((resolve) => worker.onmessage = resolve);
  await told();
  const over = told();
  worker.postMessage({ port: listener.port, count: 50 });
  // Nobody is taken while this thread is busy.
  const until = performance.now() + 300;
  while (performance.now() < until);
  const waiting = connect(listener);
  await over;
  // It waits at the port behind them: one that is listened on anew would drop it.
  using connection = await waiting;
  await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nconnection: close\r\n\r\n"));
  assert.match(await new Response(connection.readable).text(), /^HTTP\/1\.1 (200|400) /);
  assert.deepEqual(errors, []);
  worker.terminate();
});

Deno.test("a port that is taken is an error", async () => {
  await using listener = listen(echo);
  const taken = { hostname: "127.0.0.1", port: listener.port, answer: echo, onError() {} };
  assert.throws(() => listenHttp(taken), Deno.errors.AddrInUse);
});

Deno.test("a certificate that cannot be used changes nothing; another one is for new connections", async () => {
  const { first, second } = CERTIFICATES;
  await using listener = listenOn("tls", () => Promise.resolve(new Response("ok")));
  const request = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
  const ask = async (client: RawClient) => {
    await client.send(request);
    await client.until("ok");
  };
  using kept = await RawClient.open(listener.port, "tls");
  await ask(kept);
  for (const wrong of [{ cert: second.cert, key: first.key }, { cert: "", key: "" }]) {
    assert.throws(() => listener.setCertificate(wrong));
    using still = await RawClient.open(listener.port, "tls");
    await ask(still);
  }
  listener.setCertificate(second);
  using next = await RawClient.open(listener.port, "tls", "second");
  await ask(next);
  await ask(kept);
});

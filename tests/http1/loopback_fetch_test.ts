import assert from "node:assert/strict";
import { loopbackFetch } from "../../src/http1/loopback_fetch.ts";

/** A server in this process, and the ports its clients came from. */
class Server implements AsyncDisposable {
  readonly ports = new Set<number>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(answer: (request: Request) => Response | Promise<Response>) {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request, info) => {
        this.ports.add(info.remoteAddr.port);
        return answer(request);
      },
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

Deno.test("calls share a connection, and send and read what fetch would", async () => {
  await using server = new Server(async (request) => {
    if (request.method === "PUT") return new Response(new ReadableStream());
    return Response.json([request.method, request.headers.get("x-a"), await request.text()], {
      status: 201,
      headers: { "x-b": "2" },
    });
  });
  using call = loopbackFetch(server.url);
  for (let i = 0; i < 5; i++) {
    const body = new TextEncoder().encode("é".repeat(i * 20_000));
    const response = await call(`${server.url}/a?b=c`, {
      method: "POST",
      headers: { "x-a": "1" },
      body,
    });
    assert.deepEqual([response.status, response.headers.get("x-b")], [201, "2"]);
    assert.deepEqual(await response.json(), ["POST", "1", "é".repeat(i * 20_000)]);
  }
  await (await call(server.url, {})).body?.cancel();
  await (await call(server.url, {})).text();
  assert.equal(server.ports.size, 1, "what came whole is read");
  await (await call(server.url, { method: "PUT" })).body?.cancel();
  await (await call(server.url, {})).text();
  assert.equal(server.ports.size, 2, "what is not read to its end costs its connection");
});

Deno.test("an aborted call ends, before its answer and within", async () => {
  const asked = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Response>();
  await using server = new Server((request) => {
    if (request.method === "PUT") return new Response(new ReadableStream());
    asked.resolve();
    return never.promise;
  });
  using call = loopbackFetch(server.url);
  const gone = new AbortController();
  const { signal } = gone;
  const waiting = call(server.url, { signal });
  const reading = (await call(server.url, { method: "PUT", signal })).text();
  await asked.promise;
  gone.abort();
  await assert.rejects(waiting);
  await assert.rejects(reading);
  await assert.rejects(call(server.url, { signal }), { name: "AbortError" });
  never.resolve(new Response());
});

Deno.test("redirects, and servers that are not there, are errors", async () => {
  await using server = new Server(() => Response.redirect("http://127.0.0.1:9/"));
  using call = loopbackFetch(server.url);
  await assert.rejects(call(server.url, {}), TypeError);
  using nobody = loopbackFetch("http://127.0.0.1:9");
  await assert.rejects(nobody("http://127.0.0.1:9/", {}), Deno.errors.ConnectionRefused);
});

import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { Faults } from "../../devnet/faults.ts";
import { type DevServer, listen } from "../../devnet/http_server.ts";

interface Fixture extends AsyncDisposable {
  readonly faults: Faults;
  readonly url: string;
  /** How often the work was done. */
  done: number;
}

async function start(): Promise<Fixture> {
  const faults = new Faults();
  const server: DevServer = await listen(
    0,
    (request) =>
      faults.answer("it", request, async (wrong) => {
        fixture.done++;
        return new Response(`${wrong ? "lie" : "truth"} ${await request.text()}`);
      }),
  );
  const fixture: Fixture = {
    faults,
    url: `http://127.0.0.1:${server.port}`,
    done: 0,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return fixture;
}

const put = (url: string, body = "x") =>
  fetch(url, { method: "PUT", body }).then((response) => response.text());

Deno.test("a lost answer: the work is done, the caller sees a broken connection", async () => {
  await using fixture = await start();
  fixture.faults.set("it", { kind: "lost", times: 1 });
  await rejects(put(fixture.url), TypeError);
  strictEqual(fixture.done, 1);
  strictEqual(await put(fixture.url), "truth x");
});

Deno.test("what is sent as a Blob is sent once, also over a connection used before", async () => {
  await using fixture = await start();
  strictEqual(await put(fixture.url), "truth x");
  fixture.faults.set("it", { kind: "lost", times: 1 });
  await rejects(fetch(fixture.url, { method: "PUT", body: new Blob(["x"]) }), TypeError);
  strictEqual(fixture.done, 2);
});

Deno.test("an endpoint that is down does nothing", async () => {
  await using fixture = await start();
  fixture.faults.set("it", { kind: "down" });
  await rejects(put(fixture.url), TypeError);
  strictEqual(fixture.done, 0);
  fixture.faults.set("it", undefined);
  strictEqual(await put(fixture.url), "truth x");
});

Deno.test("a fault strikes only what it names, and only so often", async () => {
  await using fixture = await start();
  fixture.faults.set("it", { kind: "status", status: 503, retryAfter: 2, only: "/a", times: 2 });
  const statuses: number[] = [];
  for (const path of ["/a", "/b", "/a", "/a"]) {
    const response = await fetch(`${fixture.url}${path}`);
    await response.body?.cancel();
    statuses.push(response.status);
    if (response.status === 503) strictEqual(response.headers.get("retry-after"), "2");
  }
  deepStrictEqual(statuses, [503, 200, 503, 200]);
});

Deno.test("an endpoint lies, or is late", async () => {
  await using fixture = await start();
  fixture.faults.set("it", { kind: "wrong" });
  strictEqual(await put(fixture.url), "lie x");
  fixture.faults.set("it", { kind: "slow", ms: 1 });
  strictEqual(await put(fixture.url), "truth x");
});

Deno.test("a request that hangs ends with its caller, with the fault, or with the server", async () => {
  await using fixture = await start();
  fixture.faults.set("it", { kind: "hang" });
  const gone = new AbortController();
  const first = rejects(fetch(fixture.url, { signal: gone.signal }));
  gone.abort();
  await first;
  const second = rejects(fetch(fixture.url), TypeError);
  // Whether the request has arrived by now or not: it ends.
  fixture.faults.set("it", { kind: "down" });
  await second;
  strictEqual(fixture.done, 0);
});

Deno.test("bodies of any size pass unchanged", async () => {
  const bytes = new Uint8Array(3_000_000).map((_, index) => index * 7);
  await using server = await listen(0, async (request) => new Response(await request.bytes()));
  const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: "POST", body: bytes });
  deepStrictEqual(await response.bytes(), bytes);
});

Deno.test("a stream begins before its first part, and ends with its reader", async () => {
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() });
  await using server = await listen(0, () => Promise.resolve(new Response(body)));
  const gone = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.port}/`, { signal: gone.signal });
  strictEqual(response.status, 200);
  gone.abort();
  await response.body?.cancel().catch(() => undefined);
  await cancelled.promise;
});

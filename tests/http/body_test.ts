import assert from "node:assert/strict";
import { createLogger } from "../../src/log.ts";
import {
  COMPAT_SUI_BODY_BYTES,
  PUBLIC_BODY_BYTES,
  SIGNED_BODY_BYTES,
} from "../../src/wire/limits.ts";
import { GatheredBytes, readBody } from "../../src/wire/body/read_body.ts";
import { type Answer, read, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { listening } from "../listening.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { turns } from "../within.ts";

const FORMS = ["declared", "chunked"] as const;

/** A request whose length is declared, or whose body comes in parts. */
function send(
  svc: TestRelayer,
  request: Request,
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  form: typeof FORMS[number],
): Promise<Answer> {
  const { method, url } = request;
  const headers = new Headers(request.headers);
  if (body instanceof ReadableStream) return svc.fetch(new Request(url, { method, headers, body }));
  if (form === "declared") {
    headers.set("content-length", String(body.length));
    return svc.fetch(new Request(url, { method, headers, body }));
  }
  const half = body.length >> 1;
  const parts = ReadableStream.from([body.slice(0, half), body.slice(half)]);
  return svc.fetch(new Request(url, { method, headers, body: parts }));
}

/** A body whose first bytes come, and the end once it is told. */
function held(bytes: Uint8Array) {
  const taken = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes),
    // Asked for more, it has given away what it had.
    async pull(controller) {
      taken.resolve();
      await ended.promise;
      controller.close();
    },
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  const end = () => ended.resolve();
  return { stream, end, taken: taken.promise, cancelled: cancelled.promise };
}

function padded(json: string, length: number): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(json.padEnd(length));
}

Deno.test("bodies may have exactly the bytes of their route's limit", async () => {
  verifies("3-22", "3-23", "3-24", "4.3-3", "4.3-10", "9.2-13");
  await using svc = await startRelayer();
  const routes = [
    ["/api/stats", "{}", SIGNED_BODY_BYTES, "200"],
    ["/compat/sui", "{}", COMPAT_SUI_BODY_BYTES, "200"],
    ["/accounts/challenge", "{}", PUBLIC_BODY_BYTES, "403 origin_not_allowed"],
  ] as const;
  for (const [target, json, limit, expected] of routes) {
    for (const form of FORMS) {
      for (const length of [limit, limit + 1]) {
        const bytes = padded(json, length);
        const answer = await send(svc, svc.request("POST", target, bytes), bytes, form);
        const name = `${target} ${form} ${length}`;
        if (length > limit) assertError(answer, [413, "body_too_large"], {}, name);
        else assert.equal(`${answer.status} ${answer.body.code ?? ""}`.trim(), expected, name);
      }
    }
  }
});

Deno.test("a body over its limit is not read to the end", async () => {
  verifies("4.3-10");
  await using svc = await startRelayer();
  let parts = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      parts++;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel() {
      cancelled = true;
    },
  });
  const answer = await send(svc, svc.request("POST", "/api/stats", "{}"), endless, "chunked");
  assertError(answer, [413, "body_too_large"]);
  assert.ok(parts <= SIGNED_BODY_BYTES / 65_536 + 3, String(parts));
  assert.ok(cancelled);
});

Deno.test("a body that does not arrive in time is given up", async () => {
  verifies("4.3-11");
  await using svc = await startRelayer({ config: { bodyTimeoutMs: 20 } });
  for (const target of ["/api/stats", "/compat/sui"]) {
    const silent = new ReadableStream<Uint8Array>();
    const answer = await send(svc, svc.request("POST", target, "{}"), silent, "chunked");
    assertError(answer, [408, "request_timeout"], {}, target);
  }
});

Deno.test("a body that breaks off is no error of ours", async () => {
  verifies("4.3-11");
  await using svc = await startRelayer();
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("{"));
      controller.error(new Error("gone"));
    },
  });
  const answer = await send(svc, svc.request("POST", "/api/stats", "{}"), broken, "chunked");
  assertError(answer, [408, "request_timeout"]);
});

Deno.test("unverified bodies share a budget, and give it back", async () => {
  verifies("4.3-12");
  let log = "";
  await using svc = await startRelayer({
    config: { unverifiedBodyBytes: SIGNED_BODY_BYTES },
    logger: createLogger({ level: "info", format: "text", write: (line) => log += line }),
  });
  for (let round = 0; round < 2; round++) {
    const body = held(padded("{}", SIGNED_BODY_BYTES));
    const first = send(svc, svc.request("POST", "/api/stats", "{}"), body.stream, "chunked");
    await body.taken;
    const refused = await svc.post("/api/stats", {});
    assertError(refused, [503, "overloaded"]);
    assert.equal(refused.headers.get("retry-after"), "1");
    // Requests without a body need no budget.
    assert.equal((await svc.get("/api/account")).status, 200);
    body.end();
    assertError(await first, [401, "signature_invalid"]);
  }
  // However many are refused, they fill no log.
  assert.deepEqual(log.match(/ (warn|error) \S+/g), [" warn overloaded"]);
});

Deno.test("bodies that are only announced take nothing from others", async () => {
  verifies("4.3-12");
  await using svc = await startRelayer({ config: { unverifiedBodyBytes: 1000 } });
  for (const form of FORMS) {
    const body = held(new TextEncoder().encode("{"));
    const headers = form === "declared" ? { "content-length": String(SIGNED_BODY_BYTES) } : {};
    const request = svc.request("POST", "/api/stats", "{}", { headers });
    const announced = send(svc, request, body.stream, "chunked");
    await body.taken;
    assert.equal((await svc.post("/api/stats", {})).status, 200, form);
    body.end();
    assertError(await announced, [401, "signature_invalid"], {}, form);
  }
});

Deno.test("a body that was given up is not read on", async () => {
  verifies("4.3-11");
  await using svc = await startRelayer({ config: { bodyTimeoutMs: 20 } });
  for (const form of FORMS) {
    const body = held(new TextEncoder().encode("{"));
    // Little is held of a small one that was announced.
    const headers = form === "declared" ? { "content-length": String(SIGNED_BODY_BYTES) } : {};
    const request = svc.request("POST", "/api/stats", "{}", { headers });
    const late = await send(svc, request, body.stream, "chunked");
    assertError(late, [408, "request_timeout"], {}, form);
    await body.cancelled;
  }
});

Deno.test("a part of a body is not held with the buffer it came in", async () => {
  const gathered = new GatheredBytes();
  const expected: number[] = [];
  for (let n = 0; n < 300; n++) {
    const buffer = new Uint8Array(65_536).fill(n);
    await gathered.add(buffer.subarray(0, 1 + n % 3));
    expected.push(...buffer.subarray(0, 1 + n % 3));
  }
  assert.deepEqual([...gathered.bytes], expected);
  assert.ok(gathered.bytes.buffer.byteLength < 2 * expected.length);
});

Deno.test("a body in crumbs leaves others their turn", async () => {
  let parts = 0;
  const crumbs = () => {
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        if (parts === 1000) return controller.close();
        parts++;
        controller.enqueue(Uint8Array.of(0x20));
      },
    }, { highWaterMark: 0 });
  };
  const request = new Request("http://localhost:8000/", { method: "POST", body: crumbs() });
  const reading = readBody(request, { limit: 1000, timeoutMs: 60_000 });
  await turns();
  assert.ok(parts < 1000, "nobody else had a turn before the end");
  assert.equal((await reading).length, 1000);
});

Deno.test("a body must say that it is JSON, and be sent as it is", async () => {
  verifies("3-4", "3-6", "4.3-21", "9.2-13");
  await using svc = await startRelayer();
  const accepted = ["application/json", "application/json; charset=utf-8", "Application/JSON ;a=b"];
  const refused = ["text/plain", "application/jsonx", "text/json", "application/ld+json", null];
  for (const type of [...accepted, ...refused]) {
    const headers = { "content-type": type };
    const signed = await svc.post("/api/stats", new TextEncoder().encode("{}"), { headers });
    const init = { method: "POST", body: new TextEncoder().encode("{}") };
    const url = "http://localhost:8000/compat/sui";
    const open = await svc.fetch(
      new Request(url, { ...init, headers: type === null ? {} : { "content-type": type } }),
    );
    for (const answer of [signed, open]) {
      if (accepted.includes(type ?? "")) assert.equal(answer.status, 200, String(type));
      else assertError(answer, [415, "unsupported_media_type"], {}, String(type));
    }
  }
  for (const encoding of ["gzip", "br", "gzip, identity", "identity"]) {
    const headers = { "content-encoding": encoding };
    const signed = await svc.post("/api/stats", {}, { headers });
    const open = await svc.plain("POST", "/compat/sui", {}, { headers });
    for (const { status } of [signed, open]) {
      assert.equal(status, encoding === "identity" ? 200 : 415, encoding);
    }
  }
});

Deno.test("requests without a body need no content type, and may have one", async () => {
  verifies("3-5", "17.1-6", "4.2-6");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const headers = { "content-type": "application/json" };
  assert.equal((await svc.get(`/api/remember/${id}`, { headers })).status, 200);
  assert.equal((await svc.get(`/api/remember/${id}`)).status, 200);
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 200);
});

Deno.test("a header block above 16 KiB is refused", async () => {
  verifies("3-25");
  await using svc = await startRelayer();
  await using server = listening(svc.relayer.fetch);
  const version = `${server.url}/version`;
  const large = { "x-large": "a".repeat(16_384) };
  const fits = { "x-large": "a".repeat(15_000) };
  assert.equal((await svc.plain("GET", "/version", undefined, { headers: fits })).status, 200);
  assert.equal((await read(await fetch(version, { headers: fits }))).status, 200);
  const refused = [
    await svc.plain("GET", "/version", undefined, { headers: large }),
    await svc.post("/api/stats", {}, { headers: large }),
    await read(await fetch(version, { headers: large })),
  ];
  for (const answer of refused) assertError(answer, [431, "headers_too_large"]);
});

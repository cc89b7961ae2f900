import assert from "node:assert/strict";
import type { BlobStore } from "../../../src/interfaces/mod.ts";
import { openOn, type OpenOptions } from "./on_server.ts";
import { type Fault, refusal, S3Server, type ServerOptions } from "./s3_server.ts";

const SCOPE = { owner: `0x${"a".repeat(64)}`, namespace: "private diary" };
const BYTES = new TextEncoder().encode("a sealed record");
const KEY = "01930000-0000-7000-8000-0000000000aa";
const put = (store: BlobStore, idempotencyKey = KEY, bytes: Uint8Array = BYTES) =>
  store.put(bytes, { ...SCOPE, idempotencyKey });
const list = (store: BlobStore) => Array.fromAsync(store.list(SCOPE));
const unavailable = (message: RegExp) => ({ code: "storage_unavailable", message });

/** Opens a store on a server of its own for one test. */
function test(
  name: string,
  body: (store: BlobStore, server: S3Server) => Promise<void>,
  options: ServerOptions & OpenOptions = {},
): void {
  Deno.test(`s3: ${name}`, async () => {
    await using server = new S3Server({ versions: false, ...options });
    await using store = await openOn(server, options);
    await body(store, server);
  });
}

/** A fault for so many requests. */
function times(count: number, answer: () => Response): Fault {
  return () => count-- > 0 ? answer() : undefined;
}

test("names of objects hold no owner, namespace or key", async (store, server) => {
  await put(store);
  await put(store, "tombstone:private-key");
  const { everything } = server;
  for (const secret of [SCOPE.owner.slice(2), "private", "diary", "tombstone", KEY.slice(0, 13)]) {
    assert.ok(!everything.includes(secret), secret);
  }
  assert.ok(server.names.every((name) => name.startsWith("svc/")));
});

test("the id of a job costs one put, and no other object", async (store, server) => {
  await put(store);
  server.asked.length = 0;
  const id = await put(store, "01930000-0001-7000-8000-0000000000aa");
  assert.deepEqual(server.asked.map((line) => line.split(" ")[0]), ["PUT"]);
  server.asked.length = 0;
  assert.equal(await store.delete!(id, SCOPE), true);
  assert.deepEqual(server.asked.map((line) => line.split(" ")[0]), ["DELETE"]);
});

test("two relayers that store under one key store once", async (store, server) => {
  await using other = await openOn(server);
  for (const key of [KEY, "without a time"]) {
    const ids = await Promise.all([put(store, key), put(other, key), put(store, key)]);
    assert.deepEqual(new Set(ids).size, 1);
  }
  assert.equal((await list(store)).length, 2);
});

for (const key of [KEY, "without a time"]) {
  test(`a put whose answer is lost is put once (${key})`, async (store, server) => {
    await put(store, "before");
    server.lost = times(1, () => refusal(500, "InternalError"));
    const id = await put(store, key);
    // A process that died before it noted the id: another one tries again, with other bytes.
    server.lost = undefined;
    await using other = await openOn(server);
    assert.equal(await put(other, key, new Uint8Array(9)), id);
    assert.deepEqual(await other.get(id, SCOPE), BYTES);
    assert.equal((await list(other)).length, 2);
  });
}

test("a put that died between its two objects is finished by the next", async (store, server) => {
  await put(store, "before");
  server.fault = ({ method, url }) =>
    method === "PUT" && url.includes("/b/") ? refusal(403, "AccessDenied") : undefined;
  await assert.rejects(put(store, "without a time"), unavailable(/denies access/));
  server.fault = undefined;
  await using other = await openOn(server);
  const id = await put(other, "without a time");
  assert.equal(await put(store, "without a time"), id);
  assert.deepEqual((await list(store)).map(({ blobId }) => blobId)[0], id);
});

test("a deleted blob may be stored again under its key", async (store, server) => {
  for (const key of [KEY, "without a time"]) {
    const id = await put(store, key);
    assert.equal(await store.delete!(id, SCOPE), true);
    assert.equal(await store.get(id, SCOPE), undefined);
    assert.deepEqual(await store.get(await put(store, key), SCOPE), BYTES);
  }
  for (const { blobId } of await list(store)) await store.delete!(blobId, SCOPE);
  assert.deepEqual(server.names, ["svc/conditional"]);
});

test("a bucket that keeps versions erases nothing, and says so", async (store, server) => {
  const id = await put(store);
  assert.equal(store.erases, false);
  assert.equal(await store.delete!(id, SCOPE), false);
  assert.equal(server.kept.length, 1);
  assert.deepEqual(await list(store), []);
}, { versions: true });

test("a bucket that cannot be asked is taken at its operator's word", async (store, server) => {
  assert.equal(store.erases, true);
  assert.equal(await store.delete!(await put(store), SCOPE), true);
  assert.ok(!server.asked.some((line) => line.includes("versioning")));
}, { without: "versions" });

test("a wrong word about versions is noticed by the first deletion", async (store) => {
  assert.equal(await store.delete!(await put(store), SCOPE), false);
  assert.equal(store.erases, false);
}, { without: "versions", versions: true });

Deno.test("s3: a bucket that was given versions later erases nothing from then on", async () => {
  await using before = new S3Server({ versions: false });
  await using store = await openOn(before);
  const id = await put(store);
  assert.equal(store.erases, true);
  before.fault = ({ method }) =>
    method === "DELETE"
      ? new Response(null, { status: 204, headers: { "x-amz-delete-marker": "true" } })
      : undefined;
  assert.equal(await store.delete!(id, SCOPE), false);
  assert.equal(store.erases, false);
});

test("a server that asks for a pause is asked again", async (store, server) => {
  await put(store, "before");
  server.fault = times(2, () => refusal(503, "SlowDown"));
  const id = await put(store);
  server.fault = times(2, () => refusal(429, "TooManyRequests"));
  assert.deepEqual(await store.get(id, SCOPE), BYTES);
  server.fault = times(9, () => refusal(503, "SlowDown"));
  await assert.rejects(list(store), unavailable(/asks for a pause/));
});

test("a pause with a time is told to the caller, and kept", async (store, server) => {
  server.fault = times(1, () => refusal(503, "SlowDown", { "retry-after": "7" }));
  await assert.rejects(list(store), { code: "storage_unavailable", retryAfter: 7 });
  const asked = server.asked.length;
  await assert.rejects(list(store), unavailable(/asks for a pause/));
  assert.equal(server.asked.length, asked);
});

test("an answer that never comes ends in time", async (store, server) => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  server.fault = () => promise;
  await assert.rejects(list(store), unavailable(/did not answer in time/));
  resolve(new Response());
}, { bounds: { timeoutMs: 50 } });

test("an answer that never ends ends in time", async (store, server) => {
  server.fault = () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("<ListBucketResult>")),
      }),
    );
  await assert.rejects(list(store), unavailable(/did not answer in time/));
}, { bounds: { timeoutMs: 50 } });

test("an answer without end is given up at its limit", async (store, server) => {
  const id = await put(store);
  server.fault = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(2 ** 20)) }),
    );
  await assert.rejects(store.get(id, SCOPE), unavailable(/too large/));
}, { bounds: { tries: 1 } });

test("a caller that leaves ends the call with its reason", async (store, server) => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const reason = new Error("left");
  const controller = new AbortController();
  server.fault = () => {
    controller.abort(reason);
    return promise;
  };
  const call = store.put(BYTES, { ...SCOPE, idempotencyKey: KEY, signal: controller.signal });
  await assert.rejects(call, (error) => error === reason);
  resolve(new Response());
});

test("redirects are followed nowhere", async (store, server) => {
  let reached = 0;
  await using inside = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => {
      reached++;
      return new Response("<ListBucketResult></ListBucketResult>");
    },
  );
  const private_ = `http://127.0.0.1:${inside.addr.port}/latest/meta-data`;
  for (const status of [301, 302, 307, 308]) {
    server.fault = () => new Response(null, { status, headers: { location: private_ } });
    await assert.rejects(list(store), unavailable(/redirects/));
    await assert.rejects(store.get(`${"0".repeat(15)}j${"a".repeat(43)}`, SCOPE));
  }
  assert.equal(reached, 0);
});

const PAGE = "<html><body>Please sign in</body></html>";
const html = (status: number, headers: HeadersInit = {}) => () =>
  new Response(PAGE, { status, headers: { "content-type": "text/html", ...headers } });

test("a proxy that says yes to everything has stored nothing", async (store, server) => {
  const id = await put(store);
  for (const headers of [{}, { etag: '"page"' }] as HeadersInit[]) {
    server.fault = html(200, headers);
    await assert.rejects(put(store, "another"), unavailable(/cannot be used/));
    await assert.rejects(store.get(id, SCOPE), unavailable(/cannot be used/));
    await assert.rejects(list(store), unavailable(/cannot be used/));
    await assert.rejects(store.delete!(id, SCOPE), unavailable(/cannot be used/));
  }
});

test("a page that says 404 is no missing blob", async (store, server) => {
  const id = await put(store);
  server.fault = html(404);
  await assert.rejects(store.get(id, SCOPE), unavailable(/no object storage/));
  server.fault = () => refusal(404, "NoSuchBucket");
  await assert.rejects(store.get(id, SCOPE), unavailable(/no such bucket/));
});

test("bytes that changed in the bucket are not answered", async (store, server) => {
  const id = await put(store);
  server.alter(server.names.find((name) => name.includes("/b/"))!, new Uint8Array(BYTES.length));
  await assert.rejects(store.get(id, SCOPE), unavailable(/cannot be used/));
});

test("what others put into the folder of a scope is not taken for blobs", async (store, server) => {
  await put(store);
  const [name] = server.names.filter((name) => name.includes("/b/"));
  server.alter(`${name}.bak`, BYTES);
  assert.deepEqual((await list(store)).map(({ bytes }) => bytes), [BYTES.length]);
  const other = "<Contents><Key>svc/another/b/x</Key><Size>1</Size></Contents>";
  server.fault = () =>
    new Response(
      `<ListBucketResult><IsTruncated>false</IsTruncated>${other}</ListBucketResult>`,
    );
  await assert.rejects(list(store), unavailable(/cannot be used/));
});

test("a list that leads in a circle ends", async (store, server) => {
  server.fault = () =>
    new Response(
      "<ListBucketResult><IsTruncated>true</IsTruncated>" +
        "<NextContinuationToken>again</NextContinuationToken></ListBucketResult>",
    );
  await assert.rejects(list(store), unavailable(/cannot be used/));
});

Deno.test("s3: what the server refuses for good stops the start, in words that help", async () => {
  await using server = new S3Server({ versions: false });
  const cases: readonly (readonly [OpenOptions, RegExp])[] = [
    [{ secret: "wrong" }, /refuses the signature: check the secret access key$/],
    [{ id: "AKIAWRONG" }, /does not know the access key$/],
    [{ region: "eu-west-1" }, /check SVC_S3_REGION$/],
    [{ bucket: "another" }, /no such bucket$/],
    [{ sessionToken: "old" }, /refuses the session token$/],
    [{ bounds: { now: () => Date.now() - 3_600_000 } }, /clock is wrong$/],
  ];
  for (const [options, message] of cases) {
    await assert.rejects(openOn(server, options), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(Deno.inspect(error), /secret\/of|AKIA|Signature=/);
      return true;
    });
  }
});

Deno.test("s3: credentials for a time are taken with their token", async () => {
  await using server = new S3Server({ versions: false, sessionToken: "token/of+today==" });
  await using store = await openOn(server, { sessionToken: "token/of+today==" });
  assert.deepEqual(await store.get(await put(store), SCOPE), BYTES);
});

Deno.test("s3: a server that is down stops no start, and is used once it is up", async () => {
  await using server = new S3Server({ versions: false });
  server.fault = () => refusal(503, "ServiceUnavailable");
  const notes: string[] = [];
  const log = (_: string, text: string) => void notes.push(text);
  // Five failures would be followed by a pause.
  await using store = await openOn(server, { log, bounds: { tries: 1 } });
  assert.deepEqual(notes, ["s3: The object storage asks for a pause; memories wait until it does"]);
  assert.equal(store.erases, false);
  assert.equal(store.health!().status, "degraded");
  server.fault = undefined;
  const id = await put(store);
  assert.equal(await store.delete!(id, SCOPE), true);
  assert.equal(store.erases, true);
  assert.deepEqual(store.health!(), { status: "ok" });
});

Deno.test("s3: a server that does not work is left alone after five failures", async () => {
  await using server = new S3Server({ versions: false });
  await using store = await openOn(server, { bounds: { tries: 1 } });
  server.fault = () => refusal(500, "InternalError");
  for (let i = 0; i < 5; i++) await assert.rejects(list(store));
  const asked = server.asked.length;
  await assert.rejects(list(store), { code: "storage_unavailable", retryAfter: 5 });
  assert.equal(server.asked.length, asked);
  assert.equal(store.health!().status, "down");
});

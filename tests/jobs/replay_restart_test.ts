import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { SvcError } from "../../src/errors.ts";
import { DurableRelayer } from "../memory/durable.ts";
import { intercepted } from "../memory/intercepted.ts";
import type { Answer, SendOptions, TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

/** Sends the very same request; its timestamp is fixed. */
const NDJSON = { headers: { "content-type": "application/x-ndjson" } };

function sameRequest(
  durable: DurableRelayer,
  method: string,
  path: string,
  body?: unknown,
  options: SendOptions = {},
): () => Promise<Answer> {
  const request = durable.svc.request(method, path, body, { form: 4, ...options });
  return () => durable.svc.fetch(request.clone());
}

function assertReplayed(again: Answer, first: Answer): void {
  assert.equal(again.status, first.status);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
}

async function count(svc: TestRelayer, namespace = "default"): Promise<number> {
  await svc.relayer.idle();
  return (await svc.post("/api/stats", { namespace })).body.memory_count;
}

Deno.test("a nonce stays used over a stop, whatever the answer was", async () => {
  verifies("4.4-4", "4.4-5", "4.4-25");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  const requests = [
    svc.request("POST", "/api/remember", { text: "a fact" }),
    svc.request("GET", `/api/remember/${crypto.randomUUID()}`),
    svc.request("POST", "/api/remember", { text: " " }),
    svc.request("POST", "/api/recall", { query: "a fact" }),
  ];
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await svc.fetch(request.clone())).status);
  assert.deepEqual(statuses, [202, 404, 400, 200]);
  for (const request of requests) {
    assert.equal((await svc.fetch(request.clone())).body.code, "nonce_reused");
  }
  await durable.restart();
  for (const request of requests) {
    assert.equal((await durable.svc.fetch(request.clone())).body.code, "nonce_reused");
  }
});

Deno.test("after a power cut requests of before it are refused, new ones soon taken", async () => {
  verifies("4.4-7");
  await using durable = await DurableRelayer.start();
  durable.clock.freeze();
  const { clock } = durable;
  const old = durable.svc.request("POST", "/api/recall", { query: "x" });
  const ahead = durable.svc.request("POST", "/api/recall", { query: "x" }, {
    timestamp: String(Number(clock.seconds) + 2),
  });
  await durable.cutPower();
  assert.equal((await durable.svc.fetch(old)).body.code, "timestamp_out_of_range");
  assert.equal((await durable.svc.fetch(ahead)).status, 200);
  assert.equal((await durable.svc.post("/api/recall", { query: "x" })).status, 200);
  // The 4-field form has no nonce: its answers are kept in the commit itself.
  const timestamp = String(Number(clock.seconds) - 100);
  const plain = await durable.svc.get("/api/account", { form: 4, timestamp });
  assert.equal(plain.status, 200);
});

Deno.test("requests of before a power cut stay refused over the stops that follow it", async () => {
  verifies("4.4-4", "4.4-7");
  await using durable = await DurableRelayer.start();
  durable.clock.freeze();
  const old = durable.svc.request("POST", "/api/recall", { query: "x" });
  assert.equal((await durable.svc.fetch(old.clone())).status, 200);
  await durable.cutPower();
  durable.clock.advance(10_000);
  await durable.restart();
  assert.equal((await durable.svc.fetch(old.clone())).body.code, "timestamp_out_of_range");
  durable.clock.advance(3_000);
  assert.equal((await durable.svc.post("/api/recall", { query: "x" })).status, 200);
});

Deno.test("an equal 4-field write is one write, also after a stop or a power cut", async () => {
  verifies("4.4-10", "4.4-11", "4.4-20", "4.4-26");
  await using durable = await DurableRelayer.start();
  const remember = sameRequest(durable, "POST", "/api/remember", { text: "green tea" });
  const items = [{ text: "one" }, { text: "two" }];
  const bulk = sameRequest(durable, "POST", "/api/remember/bulk", { items });
  const firsts = [await remember(), await bulk()];
  assert.deepEqual(firsts.map((answer) => answer.status), [202, 202]);
  assert.equal(firsts[0]!.headers.get("idempotency-replayed"), null);
  for (const next of [() => durable.restart(), () => durable.cutPower(), undefined]) {
    assertReplayed(await remember(), firsts[0]!);
    assertReplayed(await bulk(), firsts[1]!);
    assert.equal(await count(durable.svc), 3);
    await next?.();
  }
});

Deno.test("equal 4-field deletes, forgets, restores and retries give the first answer", async () => {
  verifies("4.4-13", "4.4-14", "4.4-15", "4.4-16", "4.4-18", "4.4-19");
  let broken = true;
  await using durable = await DurableRelayer.start({
    wrap: {
      embedder: (embedder) =>
        intercepted(embedder, {
          embed: (next, ...args) => {
            if (!broken || args[1].purpose === "query") return next(...args);
            const error = new SvcError("embedding_unavailable", undefined, { retryable: false });
            return Promise.reject(error);
          },
        }),
    },
  });
  const failed = await durable.svc.remember("will fail");
  broken = false;
  const id = await durable.svc.remember("keep me");
  const edited = await durable.svc.remember("correct me");
  const calls = [
    sameRequest(durable, "PUT", `/api/memories/${edited}`, { text: "corrected" }),
    sameRequest(durable, "POST", "/api/import", '{"text":"taken along"}', NDJSON),
    sameRequest(durable, "POST", `/api/remember/${failed}/retry`),
    sameRequest(durable, "DELETE", `/api/memories/${id}`),
    sameRequest(durable, "POST", "/api/restore", { namespace: "default" }),
    sameRequest(durable, "POST", "/api/forget", { namespace: "default" }),
  ];
  const firsts: Answer[] = [];
  for (const call of calls) firsts.push(await call());
  assert.deepEqual(firsts.map((answer) => answer.status), [202, 202, 202, 200, 200, 200]);
  await durable.restart();
  for (const [i, call] of calls.entries()) assertReplayed(await call(), firsts[i]!);
  await durable.svc.remember("after the forget");
  assertReplayed(await calls.at(-1)!(), firsts.at(-1)!);
  assert.equal(await count(durable.svc), 1);
});

Deno.test("an idempotency key gives the first answer, in its own route and account", async () => {
  verifies("6-17", "6-19", "6-20", "6-24", "6-25");
  await using durable = await DurableRelayer.start();
  const headers = { "idempotency-key": "key-1" };
  const send = (text: string, options: SendOptions = {}) =>
    durable.svc.post("/api/remember", { text }, { headers, ...options });
  const first = await send("a fact");
  assert.equal(first.status, 202);
  assertReplayed(await send("a fact"), first);
  assertReplayed(await send("a fact", { form: 4 }), first);
  assert.equal((await send("another fact")).body.code, "idempotency_conflict");
  const items = [{ text: "a fact" }];
  const bulk = await durable.svc.post("/api/remember/bulk", { items }, { headers });
  assert.equal(bulk.status, 202);
  const { key } = await durable.svc.addAccount();
  const foreign = await send("another fact", { key });
  assert.equal(foreign.status, 202);
  assert.notEqual(foreign.body.job_id, first.body.job_id);
  await durable.cutPower();
  assertReplayed(await send("a fact"), first);
  await durable.restart();
  assertReplayed(await send("a fact"), first);
  assert.equal((await send("another fact")).status, 409);
  assert.equal(await count(durable.svc), 2);
});

Deno.test("after an error the idempotency key is free", async () => {
  verifies("6-22");
  await using durable = await DurableRelayer.start({ config: { maxPendingJobs: 0 } });
  const headers = { "idempotency-key": "key-1" };
  const send = (text: string) => durable.svc.post("/api/remember", { text }, { headers });
  assert.equal((await send("a fact")).status, 503);
  assert.equal((await send(" ")).status, 400);
  await durable.restart({ config: {} });
  assert.equal((await send("another fact")).status, 202);
});

Deno.test("two equal requests at once are one write", async () => {
  verifies("4.4-22", "6-21");
  await using durable = await DurableRelayer.start();
  const headers = { "idempotency-key": "key-1" };
  const send = () => durable.svc.post("/api/remember", { text: "a fact" }, { headers });
  const repeat = sameRequest(durable, "POST", "/api/remember", { text: "another fact" });
  const answers = await Promise.all([send(), send(), send(), repeat(), repeat(), repeat()]);
  assert.deepEqual(answers.map((answer) => answer.status), Array(6).fill(202));
  for (const three of [answers.slice(0, 3), answers.slice(3)]) {
    assert.equal(new Set(three.map((answer) => answer.text)).size, 1);
    const replayed = three.filter(({ headers }) => headers.get("idempotency-replayed") === "true");
    assert.equal(replayed.length, 2);
  }
  assert.equal(await count(durable.svc), 2);
});

Deno.test("4-field reads may be repeated; two different texts are two writes", async () => {
  verifies("4.4-9", "4.4-21");
  await using durable = await DurableRelayer.start();
  durable.clock.freeze();
  const remember = (text: string) => durable.svc.post("/api/remember", { text }, { form: 4 });
  const [one, two] = [await remember("one tea"), await remember("two teas")];
  assert.notEqual(one.body.job_id, two.body.job_id);
  const recall = sameRequest(durable, "POST", "/api/recall", { query: "tea" });
  const job = sameRequest(durable, "GET", `/api/remember/${one.body.job_id}`);
  for (let i = 0; i < 3; i++) {
    const answers = [await recall(), await job()];
    assert.deepEqual(answers.map((answer) => answer.status), [200, 200]);
    assert.equal(answers.some(({ headers }) => headers.has("idempotency-replayed")), false);
  }
  assert.equal(await count(durable.svc), 2);
});

Deno.test("a refused 4-field write is not kept: once it can succeed it does", async () => {
  verifies("4.4-24");
  await using durable = await DurableRelayer.start({ config: { maxPendingJobs: 0 } });
  const remember = sameRequest(durable, "POST", "/api/remember", { text: "a fact" });
  assert.equal((await remember()).status, 503);
  await durable.restart({ config: {} });
  const first = await remember();
  assert.equal(first.status, 202);
  assert.equal(first.headers.get("idempotency-replayed"), null);
  assertReplayed(await remember(), first);
  assert.equal(await count(durable.svc), 1);
});

Deno.test("remember and bulk honour an idempotency key, other routes ignore it", async () => {
  verifies("6-10", "6-11", "6-16");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  const headers = { "idempotency-key": "key-1" };
  const items = [{ text: "one" }, { text: "two" }];
  for (const [path, body] of [["/api/remember", items[0]], ["/api/remember/bulk", { items }]]) {
    const first = await svc.post(String(path), body, { headers });
    assertReplayed(await svc.post(String(path), body, { headers }), first);
  }
  assert.equal(await count(svc), 3);
  const forgotten: number[] = [];
  for (let i = 0; i < 2; i++) {
    const { body } = await svc.post("/api/forget", { namespace: "default" }, { headers });
    forgotten.push(body.deleted);
  }
  assert.deepEqual(forgotten, [3, 0]);
});

Deno.test("a replacement and an import honour an idempotency key", async () => {
  verifies("6-14", "6-15", "6-8");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  const headers = { "idempotency-key": "key-1" };
  const id = await svc.remember("one");
  const replace = () => svc.send("PUT", `/api/memories/${id}`, { text: "two" }, { headers });
  const replaced = await replace();
  assertReplayed(await replace(), replaced);
  const lines = '{"text":"three"}\n{"text":"four"}';
  const ndjson = { headers: { ...headers, ...NDJSON.headers } };
  const take = () => svc.send("POST", "/api/import", lines, ndjson);
  const first = await take();
  assert.equal(first.body.accepted, 2);
  assertReplayed(await take(), first);
  assert.equal(await count(svc), 3);
});

/** Every file of a directory, one after the other. */
async function everyByte(dir: string): Promise<Uint8Array[]> {
  const files: Uint8Array[] = [];
  for await (const { name } of Deno.readDir(dir)) files.push(await Deno.readFile(`${dir}/${name}`));
  return files;
}

/** Whether the bytes stand anywhere in a file. */
function holds(file: Uint8Array, needle: Uint8Array): boolean {
  const [first] = needle;
  for (let at = file.indexOf(first!); at >= 0; at = file.indexOf(first!, at + 1)) {
    if (needle.every((byte, i) => file[at + i] === byte)) return true;
  }
  return false;
}

Deno.test("neither a text nor a hash of a body is on the disk", async () => {
  verifies("6-23");
  await using durable = await DurableRelayer.start();
  const secret = "the safe opens with 71-14-33";
  const body = JSON.stringify({ text: secret, metadata: { place: "behind the painting" } });
  const headers = { "idempotency-key": "visible-key" };
  const first = await durable.svc.post("/api/remember", body, { headers });
  assert.equal(first.status, 202);
  await durable.svc.post("/api/remember", body, { form: 4 });
  await durable.svc.post("/api/recall", { query: secret });
  await durable.svc.relayer.idle();
  const hash = createHash("sha256").update(body).digest();
  const needles: Record<string, Uint8Array> = {
    text: new TextEncoder().encode("71-14-33"),
    metadata: new TextEncoder().encode("behind the painting"),
    "idempotency key": new TextEncoder().encode("visible-key"),
    hash,
    "hash in hex": new TextEncoder().encode(hash.toString("hex")),
    "hash in base64": new TextEncoder().encode(hash.toString("base64")),
    "hash of the text": createHash("sha256").update(secret).digest(),
    // As V8 serializes some texts.
    "text in UTF-16": new Uint8Array(
      Uint16Array.from("71-14-33", (character) => character.charCodeAt(0)).buffer,
    ),
  };
  const look = async (when: string) => {
    for (const file of await everyByte(durable.dir)) {
      for (const [name, needle] of Object.entries(needles)) {
        assert.equal(holds(file, needle), false, `${name} is on the disk ${when}`);
      }
    }
  };
  await look("while it runs");
  await durable.restart({}, () => look("after the stop"));
  assert.deepEqual(await durable.svc.recall("opens the safe with"), [secret, secret]);
});

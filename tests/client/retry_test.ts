import assert from "node:assert/strict";
import {
  SvcClient,
  type SvcClientOptions,
  SvcConnectionError,
  SvcError,
} from "../../src/client/mod.ts";
import { type Answer, fakeRelayer, refusal } from "./fake_relayer.ts";
import { poll, turns } from "../within.ts";

const ID = "11111111-2222-4333-8444-555555555555";

/** A client whose waits are recorded and move its clock. */
function clientOf(baseUrl: string, options: Partial<SvcClientOptions> = {}) {
  const waits: number[] = [];
  const clock = { now: 1_767_225_600_000 };
  const client = new SvcClient({
    baseUrl,
    privateKey: "07".repeat(32),
    now: () => clock.now,
    sleep: (ms) => {
      waits.push(ms);
      clock.now += ms;
      return Promise.resolve();
    },
    ...options,
  });
  return { client, waits, clock };
}

/** Refuses with 503 until the n-th request. */
const busyUntil = (n: number, body: unknown): Answer => (_, i) =>
  i < n ? refusal(new SvcError("overloaded", undefined, { retryAfter: 2 })) : Response.json(body);

Deno.test("a read is repeated after 503 with Retry-After, with a new nonce", async () => {
  await using relayer = fakeRelayer({
    "POST /api/recall": busyUntil(2, { results: [], total: 0 }),
  });
  const { client, waits } = clientOf(relayer.url);
  assert.equal((await client.recall("tea")).total, 0);
  assert.deepEqual(waits, [2000, 2000]);
  const nonces = relayer.received.map(({ headers }) => headers.get("x-nonce"));
  assert.equal(new Set(nonces).size, 3);
});

Deno.test("a read gives up after the policy's attempts", async () => {
  await using relayer = fakeRelayer({ "GET /api/account": busyUntil(99, {}) });
  const { client, waits } = clientOf(relayer.url, { retry: { attempts: 2 } });
  await assert.rejects(client.account(), { code: "overloaded" });
  assert.equal(relayer.received.length, 2);
  assert.equal(waits.length, 1);
});

Deno.test("503 without Retry-After is not repeated", async () => {
  await using relayer = fakeRelayer({
    "POST /api/ask": () => refusal(new SvcError("llm_disabled")),
  });
  const { client } = clientOf(relayer.url);
  await assert.rejects(client.ask("?"), { code: "llm_disabled", retryable: false });
  assert.equal(relayer.received.length, 1);
});

Deno.test("a remember is repeated with its idempotency key and a new nonce", async () => {
  await using relayer = fakeRelayer({ "POST /api/remember": busyUntil(1, { job_id: ID }) });
  const { client } = clientOf(relayer.url);
  assert.equal((await client.remember("tea")).job_id, ID);
  const [first, second] = relayer.received.map(({ headers }) => headers);
  assert.match(first?.get("idempotency-key") ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(first?.get("idempotency-key"), second?.get("idempotency-key"));
  assert.notEqual(first?.get("x-nonce"), second?.get("x-nonce"));
  await client.remember("tea", {}, { idempotencyKey: "mine" });
  assert.equal(relayer.received[2]?.headers.get("idempotency-key"), "mine");
});

Deno.test("an unfinished first request is waited for", async () => {
  await using relayer = fakeRelayer({
    "POST /api/remember": (_, n) =>
      n === 0 ? refusal(new SvcError("idempotency_in_progress")) : Response.json({ job_id: ID }),
  });
  const { client, waits } = clientOf(relayer.url);
  assert.equal((await client.remember("tea")).job_id, ID);
  assert.equal(waits.length, 1);
});

Deno.test("writes without an idempotency key are never repeated", async () => {
  const busy = busyUntil(99, {});
  await using relayer = fakeRelayer({
    "POST /api/forget": busy,
    [`DELETE /api/memories/${ID}`]: busy,
    [`POST /api/remember/${ID}/retry`]: busy,
  });
  const { client } = clientOf(relayer.url);
  await assert.rejects(client.forget("n"), { code: "overloaded" });
  await assert.rejects(client.deleteMemory(ID), { code: "overloaded" });
  await assert.rejects(client.retryJob(ID), { code: "overloaded" });
  assert.equal(relayer.received.length, 3);
});

Deno.test("a read is repeated when a gateway lost its relayer, or the platform sent it twice", async () => {
  const inGateway = (status: number) => new Response("<html>Bad Gateway</html>", { status });
  const failures = [502, 503, 504].map((status) => () => inGateway(status));
  failures.push(() => refusal(new SvcError("nonce_reused")));
  for (const failure of failures) {
    const answer: Answer = (_, n) => n === 0 ? failure() : Response.json({ results: [], total: 0 });
    await using relayer = fakeRelayer({ "POST /api/recall": answer });
    const { client, waits } = clientOf(relayer.url);
    assert.equal((await client.recall("tea")).total, 0);
    assert.equal(waits.length, 1);
    const nonces = relayer.received.map(({ headers }) => headers.get("x-nonce"));
    assert.equal(new Set(nonces).size, 2);
  }
});

Deno.test("a write without a key is not repeated because a gateway lost its relayer", async () => {
  await using relayer = fakeRelayer({
    "POST /api/forget": () => new Response("", { status: 502 }),
  });
  const { client } = clientOf(relayer.url);
  await assert.rejects(client.forget("n"), { name: "SvcAnswerError", status: 502 });
  assert.equal(relayer.received.length, 1);
});

Deno.test("connection failures: reads and keyed writes are repeated, others are not", async () => {
  let sendings = 0;
  const { client, waits } = clientOf("http://127.0.0.1:1", {
    form: "nonce",
    retry: { attempts: 3, baseDelayMs: 100 },
    fetch: () => {
      sendings++;
      return Promise.reject(new TypeError("connection refused"));
    },
  });
  const fails = async (call: Promise<unknown>, expected: number): Promise<void> => {
    sendings = 0;
    await assert.rejects(call, (error) => {
      assert(error instanceof SvcConnectionError);
      assert.equal(error.baseUrl, "http://127.0.0.1:1");
      assert.match(error.message, /http:\/\/127\.0\.0\.1:1 cannot be reached/);
      return true;
    });
    assert.equal(sendings, expected);
  };
  await fails(client.recall("tea"), 3);
  assert(waits[0]! >= 50 && waits[0]! <= 100 && waits[1]! >= 100 && waits[1]! <= 200);
  await fails(client.remember("tea"), 3);
  await fails(client.forget("n"), 1);
});

Deno.test("a connection that breaks inside the answer counts as a connection failure", async () => {
  let sendings = 0;
  const { client } = clientOf("http://127.0.0.1:1", {
    fetch: () => {
      const broken = new ReadableStream({ start: (c) => c.error(new TypeError("reset")) });
      return Promise.resolve(sendings++ === 0 ? new Response(broken) : Response.json({ total: 3 }));
    },
  });
  assert.equal((await client.recall("tea")).total, 3);
  assert.equal(sendings, 2);
});

Deno.test("an answer that does not come ends at the deadline", async () => {
  const { client } = clientOf("http://127.0.0.1:1", {
    timeoutMs: 1,
    retry: { attempts: 1 },
    fetch: (_, { signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true })
      ),
  });
  await assert.rejects(client.version(), /did not answer within 1 ms/);
});

Deno.test("a deadline beyond what timers can do is none at all", async () => {
  await using relayer = fakeRelayer({ "GET /version": () => Response.json({ ok: true }) });
  for (const timeoutMs of [Infinity, 2 ** 31]) {
    const { client } = clientOf(relayer.url, { timeoutMs, retry: { attempts: 1 } });
    assert.deepEqual(await client.version(), { ok: true });
  }
});

Deno.test("the caller's signal ends a call with its own reason, also while waiting", async () => {
  const reason = new Error("enough");
  const hanging = clientOf("http://127.0.0.1:1", {
    fetch: (_, { signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true })
      ),
  });
  const first = new AbortController();
  const call = hanging.client.recall("tea", {}, { signal: first.signal });
  first.abort(reason);
  await assert.rejects(call, reason);

  await using relayer = fakeRelayer({ "POST /api/recall": busyUntil(99, {}) });
  const second = new AbortController();
  const waiting = new SvcClient({
    baseUrl: relayer.url,
    privateKey: "07".repeat(32),
    sleep: (_, signal) => {
      second.abort(reason);
      return Promise.reject(signal?.reason);
    },
  });
  await assert.rejects(waiting.recall("tea", {}, { signal: second.signal }), reason);
});

Deno.test("a fetch of the caller's own ends in time, whatever it makes of the signal", async () => {
  const fetches: Record<string, NonNullable<SvcClientOptions["fetch"]>> = {
    "ignores it": () => new Promise(() => {}),
    "answers that the client has left": (_, { signal }) =>
      new Promise((resolve) =>
        signal?.addEventListener("abort", () => resolve(new Response(null, { status: 499 })))
      ),
    "leaves the body open": () => Promise.resolve(new Response(new ReadableStream())),
  };
  for (const [name, fetch] of Object.entries(fetches)) {
    const { client } = clientOf("http://relayer.internal", { fetch, timeoutMs: 5 });
    const late = /^The relayer at http:..relayer.internal did not answer within 5 ms$/;
    await assert.rejects(client.deleteMemory(ID), { name: "SvcConnectionError", message: late });
    await assert.rejects(Array.fromAsync(client.exportMemories()), { message: late }, name);
    const patient = clientOf("http://relayer.internal", { fetch }).client;
    for (const call of ["account", "exportMemories"] as const) {
      const reason = new Error("gone");
      const gone = new AbortController();
      const { signal } = gone;
      const answer = call === "account"
        ? patient.account({ signal })
        : Array.fromAsync(patient.exportMemories("n", { signal }));
      void turns().then(() => gone.abort(reason));
      await assert.rejects(answer, (error) => error === reason, name);
    }
  }
});

Deno.test("an export that stops half way ends at the deadline", async () => {
  const line = new TextEncoder().encode('{"type":"memory"}\n');
  await using relayer = fakeRelayer({
    "POST /api/export": () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(line) })),
  });
  const { client } = clientOf(relayer.url, { timeoutMs: 500 });
  const lines: unknown[] = [];
  await assert.rejects(async () => {
    for await (const line of client.exportMemories()) lines.push(line);
  }, { name: "SvcConnectionError", message: /did not answer within 500 ms$/ });
  assert.deepEqual(lines, [{ type: "memory" }]);
});

Deno.test("a clock that is off is corrected once by the relayer's Date, for any call", async () => {
  const theirs = 1_767_229_200; // an hour after ours
  const answer: Answer = ({ headers }) => {
    if (Math.abs(Number(headers.get("x-timestamp")) - theirs) <= 300) return Response.json({});
    const refused = refusal(new SvcError("timestamp_out_of_range"));
    refused.headers.set("date", new Date(theirs * 1000).toUTCString());
    return refused;
  };
  await using relayer = fakeRelayer({ "POST /api/forget": answer });
  const { client, waits } = clientOf(relayer.url);
  await client.forget("n");
  assert.equal(relayer.received.length, 2);
  await client.forget("n"); // the correction is kept
  assert.equal(relayer.received.length, 3);
  assert.deepEqual(waits, []);
});

Deno.test("a right clock that is refused waits for a restarted relayer, once", async () => {
  const { client, waits, clock } = clientOf("http://127.0.0.1:1", {
    fetch: () => {
      const refused = refusal(new SvcError("timestamp_out_of_range"));
      refused.headers.set("date", new Date(clock.now).toUTCString());
      return Promise.resolve(refused);
    },
  });
  await assert.rejects(client.account(), { code: "timestamp_out_of_range" });
  assert.deepEqual(waits, [3000]);
});

Deno.test("where no Date is seen a restarted relayer is waited for as well", async () => {
  let refused = 0;
  const { client, waits } = clientOf("http://relayer.internal", {
    form: "nonce",
    fetch: () =>
      Promise.resolve(
        refused++ === 0
          ? Response.json({ code: "timestamp_out_of_range" }, { status: 401 })
          : Response.json({ owner: "0x1" }),
      ),
  });
  assert.equal((await client.account()).owner, "0x1");
  assert.deepEqual(waits, [3000]);
});

Deno.test("waitFor polls with growing waits until the job is there", async () => {
  const job = (n: number): object => ({ job_id: ID, status: "running", recallable: n >= 3 });
  await using relayer = fakeRelayer({
    [`GET /api/remember/${ID}`]: (_, n) => Response.json(job(n)),
  });
  const { client, waits } = clientOf(relayer.url);
  assert.equal((await client.waitFor(ID)).recallable, true);
  assert.deepEqual(waits.map(Math.round), [100, 160, 256]);
});

Deno.test("waitFor ends with the last state at failure and when time is up", async () => {
  const failed = { job_id: ID, status: "failed", recallable: false };
  const running = { job_id: ID, status: "running", recallable: true };
  await using relayer = fakeRelayer({
    [`GET /api/remember/${ID}`]: (_, n) => Response.json(n === 0 ? failed : running),
    "POST /api/remember/bulk/status": (_, n) =>
      Response.json({ results: [n === 0 ? { ...running, recallable: false } : running, failed] }),
  });
  const { client, waits } = clientOf(relayer.url);
  assert.equal((await client.waitFor(ID)).status, "failed");
  assert.equal(waits.length, 0);
  const late = await client.waitFor(ID, { until: "done", timeoutMs: 10_000 });
  assert.equal(late.status, "running");
  assert.equal(Math.round(waits.reduce((a, b) => a + b)), 10_000);
  const { results } = await client.waitForAll([ID, ID]);
  assert.deepEqual(results.map(({ status }) => status), ["running", "failed"]);
});

Deno.test("waitFor shows a credential to a relayer that cannot go on without one", async () => {
  const locked = { job_id: ID, status: "pending", recallable: false, waits_for: "credential" };
  const done = { job_id: ID, status: "done", recallable: true };
  await using relayer = fakeRelayer({
    [`GET /api/remember/${ID}`]: ({ headers }) =>
      Response.json(headers.has("x-seal-session") ? done : locked),
    "POST /api/remember/bulk/status": ({ headers }) =>
      Response.json({ results: [headers.has("x-seal-session") ? done : locked] }),
  });
  const { client } = clientOf(relayer.url, { sealSession: "session" });
  assert.equal((await client.waitFor(ID)).status, "done");
  assert.equal((await client.waitForAll([ID])).results[0]!.status, "done");
  const shown = relayer.received.map(({ headers }) => headers.get("x-seal-session"));
  assert.deepEqual(shown, [null, "session", null, "session"]);
});

Deno.test("waitFor answers the last state in time where the relayer falls silent", async () => {
  const running = { job_id: ID, status: "running", recallable: false };
  const silence = new Promise<Response>(() => {});
  const client = new SvcClient({
    baseUrl: "http://relayer.internal",
    privateKey: "07".repeat(32),
    form: "nonce",
    fetch: () => asked++ === 0 ? Promise.resolve(Response.json(running)) : silence,
  });
  let asked = 0;
  assert.deepEqual(await client.waitFor(ID, { timeoutMs: 300 }), running);
  assert.equal(asked, 2);

  asked = 0;
  const gone = new AbortController();
  const { signal } = gone;
  const waiting = client.waitFor(ID, { timeoutMs: Infinity, signal });
  const reason = new Error("gone");
  void poll(() => asked, (count) => count === 2).then(() => gone.abort(reason));
  await assert.rejects(waiting, (error) => error === reason);
});

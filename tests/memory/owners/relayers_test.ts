import assert from "node:assert/strict";
import { SvcError } from "../../../src/errors.ts";
import { verifies } from "../../requirements.ts";
import { memoryState } from "../../../plugins/memory/state_store.ts";
import { memoryVectorStore } from "../../../plugins/memory/vector_store.ts";
import { poll } from "../../within.ts";
import { Gate, intercepted } from "../intercepted.ts";
import { relayersOn, withRelayers, withTwo } from "./several_relayers.ts";

withTwo("a request that one relayer answered is answered by no other one", async (one, two) => {
  const id = await one.remember("I like tea");
  const asked = {
    read: one.request("GET", `/api/memories/${id}`),
    remember: one.request("POST", "/api/remember", { text: "I like coffee" }),
    forget: one.request("POST", "/api/forget", { namespace: "other" }),
  };
  for (const [name, request] of Object.entries(asked)) {
    const { status } = await one.fetch(request.clone());
    assert.ok(status < 300, `${name} answered ${status}`);
    const again = await two.fetch(request);
    assert.deepEqual([name, again.status, again.body.code], [name, 401, "nonce_reused"]);
  }
});

withTwo("an idempotency key and a signed text are known to both", async (one, two) => {
  const headers = { "idempotency-key": "once" };
  const first = await one.post("/api/remember", { text: "I like tea" }, { headers });
  const again = await two.post("/api/remember", { text: "I like tea" }, { headers });
  assert.equal(again.body.memory_id, first.body.memory_id);
  assert.equal(
    again.headers.get("x-svc-idempotency-replayed") ?? again.headers.get("idempotency-replayed"),
    "true",
  );
  const other = await two.post("/api/remember", { text: "I like coffee" }, { headers });
  assert.equal(other.body.code, "idempotency_conflict");
  const legacy = one.request("POST", "/api/remember", { text: "I like water" }, { form: 4 });
  const said = await one.fetch(legacy.clone());
  assert.equal((await two.fetch(legacy)).body.memory_id, said.body.memory_id);
});

withTwo(
  "an owner is at one relayer, and goes when nothing is under way",
  async (one, two, stores) => {
    await one.remember("I like tea");
    assert.deepEqual(await stores[0]!.owners.mine(), [one.owner]);
    assert.deepEqual(await two.recall("tea"), ["I like tea"]);
    assert.deepEqual(await stores[0]!.owners.mine(), []);
    assert.deepEqual(await stores[1]!.owners.mine(), [one.owner]);
    const export_ = await one.relayer.fetch(one.request("POST", "/api/export", {}));
    const recall = two.recall("tea");
    // The other one waits until the export was read to its end.
    assert.equal(await stores[1]!.owners.take(one.owner, true), false);
    assert.match(await export_.text(), /"type":"end"/);
    assert.deepEqual(await recall, ["I like tea"]);
  },
);

withTwo("what a relayer chose, deleted and replaced is so for the other", async (one, two) => {
  const id = await one.remember("I like tea");
  await one.send("PUT", "/api/namespaces", { namespace: "default", conflicts: "auto" });
  const chosen = await two.get("/api/namespaces");
  assert.match(chosen.text, /"conflicts":"auto"/);
  const replaced = await two.send("PUT", `/api/memories/${id}`, { text: "I like coffee" });
  assert.equal(replaced.body.version, 2);
  await two.relayer.idle();
  assert.deepEqual(await one.recall("coffee"), ["I like coffee"]);
  const versions = await one.get(`/api/memories/${id}`);
  assert.equal(versions.body.version, 2);
  assert.equal((await two.send("DELETE", `/api/memories/${id}`)).status, 200);
  assert.equal((await one.get(`/api/memories/${id}`)).status, 404);
});

withTwo("what the ledger refuses did not happen, and jobs go on", async (one, _, [store]) => {
  const id = await one.remember("I like tea");
  const { embedder } = one.backends;
  const { embed } = embedder;
  const blocked = Promise.withResolvers<void>();
  // What is accepted now is still waiting when the owner is lost.
  embedder.embed = async (...args: Parameters<typeof embed>) => {
    await blocked.promise;
    return await embed.apply(embedder, args);
  };
  const accepted = await one.post("/api/remember", { text: "I like coffee" });
  assert.equal(accepted.status, 202);
  const { write } = store!.ledger;
  store!.ledger.write = () => Promise.reject(new SvcError("storage_unavailable"));
  const refused = await one.send("DELETE", `/api/memories/${id}`);
  assert.equal(refused.body.code, "storage_unavailable");
  store!.ledger.write = write;
  const found = one.recall("coffee");
  blocked.resolve();
  assert.equal((await found)[0], "I like coffee");
  assert.equal((await one.get(`/api/memories/${id}`)).status, 200);
});

withTwo("what one relayer did is seen in what another one tells", async (one, two) => {
  verifies("10.13-9");
  one.clock.freeze();
  const seen = async (relayer: typeof one) => {
    const { body } = await relayer.get("/api/account/activity");
    return body.entries.map(({ action, namespace, count }: Record<string, unknown>) =>
      `${action} ${namespace ?? "-"} ${count}`
    ).sort();
  };
  await one.post("/api/stats", { namespace: "tea" });
  await two.post("/api/stats", { namespace: "tea" });
  await two.post("/api/stats", { namespace: "coffee" });
  const stats = ["POST /api/stats coffee 1", "POST /api/stats tea 2"];
  const path = "GET /api/account/activity";
  assert.deepEqual(await seen(one), stats);
  assert.deepEqual(await seen(two), [`${path} - 1`, ...stats]);
  assert.deepEqual(await seen(one), [`${path} - 2`, ...stats]);
});

const scans = new Gate();

withRelayers("what a lost owner's last request read is not kept", {
  count: 2,
  backends: {
    vectorStore: intercepted(memoryVectorStore(), {
      scan: async (next, ...args) => {
        await scans.pass();
        return await next(...args);
      },
    }),
  },
}, async ([one, two], [store]) => {
  const id = await two!.remember("I like tea");
  scans.close();
  const recalling = one!.recall("tea").catch(() => []);
  await scans.reached;
  const { write } = store!.ledger;
  store!.ledger.write = () => Promise.reject(new SvcError("storage_unavailable"));
  const choice = { namespace: "default", conflicts: "auto" };
  assert.equal((await one!.send("PUT", "/api/namespaces", choice)).status, 503);
  store!.ledger.write = write;
  scans.open();
  await recalling;
  await two!.send("PUT", `/api/memories/${id}`, { text: "I like coffee" });
  await two!.relayer.idle();
  assert.deepEqual(await one!.recall("coffee"), ["I like coffee"]);
});

Deno.test("what was accepted although its answer was lost is found behind the answer of a repetition", async () => {
  await using state = memoryState();
  const store = state.open();
  let isLost = false;
  const jobs = intercepted(store.jobs, {
    accept: async (next, accepted, notes) => {
      const leases = await next(accepted, notes);
      if (isLost) throw new SvcError("storage_unavailable");
      return leases;
    },
  });
  const given = new Proxy(store, {
    get: (target, name) => name === "jobs" ? jobs : Reflect.get(target, name, target),
  });
  const [svc] = await Array.fromAsync(relayersOn([given]));
  await using _ = svc!;
  await svc!.remember("tea with milk");
  const send = () =>
    svc!.post("/api/remember", { text: "tea with honey" }, {
      headers: { "idempotency-key": "one" },
    });
  isLost = true;
  assert.equal((await send()).status, 503);
  isLost = false;
  const { status, headers, body } = await send();
  assert.deepEqual([status, headers.get("idempotency-replayed")], [202, "true"]);
  assert.ok((await svc!.recall("tea")).includes("tea with honey"));
  await poll(
    async () => (await svc!.get(`/api/remember/${body.job_id}`)).body.status,
    (one) => one === "done",
  );
});

Deno.test("a request that needs no commit is known again by its nonce, too", async () => {
  await using state = memoryState();
  const [svc] = await Array.fromAsync(relayersOn([state.open()], { deduplicate: true }));
  await using _ = svc!;
  await svc!.remember("tea with honey");
  await svc!.recall("tea");
  const twin = svc!.request("POST", "/api/remember", { text: "tea with honey" });
  const first = await svc!.fetch(twin.clone());
  assert.deepEqual([first.status, first.body.deduplicated], [202, true]);
  const again = await svc!.fetch(twin);
  assert.deepEqual([again.status, again.body.code], [401, "nonce_reused"]);
});

Deno.test("a job that ended although its answer was lost is over, and its memory can be deleted", async () => {
  await using state = memoryState();
  const store = state.open();
  let lost = 0;
  let away = 1;
  const jobs = intercepted(store.jobs, {
    end: async (next, lease, record) => {
      await next(lease, record);
      if (lost++ === 0) throw new SvcError("storage_unavailable");
    },
    // It is away for a while.
    ended: async (next, id) => {
      if (lost > 0 && away-- > 0) throw new SvcError("storage_unavailable");
      return await next(id);
    },
  });
  const given = new Proxy(store, {
    get: (target, name) => name === "jobs" ? jobs : Reflect.get(target, name, target),
  });
  const [svc] = await Array.fromAsync(relayersOn([given]));
  await using _ = svc!;
  const id = await svc!.remember("tea with milk");
  await poll(
    async () => (await svc!.get(`/api/remember/${id}`)).body.status,
    (one) => one === "done",
  );
  const { status } = await svc!.send("DELETE", `/api/memories/${id}`);
  assert.equal(status, 200);
  await svc!.relayer.idle();
  assert.match((await svc!.plain("GET", "/metrics")).text, /svc_jobs\{state="running"\} 0/);
});

withTwo(
  "each relayer tells operators of its owners and of calls of the store",
  async (one, two) => {
    await one.remember("I like tea");
    await one.recall("tea");
    const told = async (relayer: typeof one) => (await relayer.plain("GET", "/metrics")).text;
    const text = await told(one);
    assert.match(text, /^svc_owners 1$/m);
    const age = Number(/^svc_lease_age_seconds (\S+)$/m.exec(text)?.[1]);
    assert.ok(age >= 0 && age < 5, `${age} s`);
    assert.match(
      text,
      /^svc_external_request_duration_seconds_count\{dependency="store",operation="jobs_accept"\} [1-9]/m,
    );
    assert.match(text, /^svc_index_namespaces 1$/m);
    assert.match(text, /^svc_index_loads_total 1$/m);
    assert.match(await told(two), /^svc_owners 0$/m);
  },
);

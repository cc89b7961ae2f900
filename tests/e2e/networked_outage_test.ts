import assert from "node:assert/strict";
import type { Fault } from "../../devnet/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { inHome } from "../program.ts";
import { Networked } from "./networked.ts";
import { poll } from "../within.ts";

/** What fails, and how. Two key servers of three, so that the threshold is missed. */
const OUTAGES: readonly { readonly what: readonly string[]; readonly fault: Fault }[] = [
  { what: ["relay"], fault: { kind: "down" } },
  { what: ["relay"], fault: { kind: "wrong" } },
  { what: ["relay"], fault: { kind: "lost" } },
  { what: ["relay"], fault: { kind: "status", status: 429, retryAfter: 1 } },
  { what: ["keyServer:0", "keyServer:1"], fault: { kind: "down" } },
  { what: ["keyServer:0", "keyServer:1"], fault: { kind: "wrong" } },
  { what: ["keyServer:2"], fault: { kind: "hang" } },
  { what: ["aggregator:0", "aggregator:1"], fault: { kind: "down" } },
  { what: ["aggregator:0"], fault: { kind: "wrong" } },
  { what: ["aggregator:0", "aggregator:1"], fault: { kind: "slow", ms: 300 } },
  { what: ["chain"], fault: { kind: "down" } },
  { what: ["chain"], fault: { kind: "wrong" } },
  { what: ["chain"], fault: { kind: "status", status: 503 } },
];

/** Asks again until the answer is yes. */
async function until(what: string, ask: () => Promise<boolean>): Promise<void> {
  await poll(async () => ({ what, is: await ask() }), ({ is }) => is);
}

/** The code of a refusal; undefined when there is none. */
async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof SvcError) return error.code;
    throw error;
  }
}

const UNAVAILABLE = new Set([
  undefined,
  "key_service_unavailable",
  "chain_unavailable",
  "storage_unavailable",
]);

Deno.test("whatever of the networks fails: nothing is lost, no 401, and it recovers", async () => {
  await inHome(async (home) => {
    await using networked = await Networked.start(home, {
      SVC_BLOB_BATCH_MS: "100",
      SVC_SEAL_KEY_SERVER_TIMEOUT_MS: "2000",
      SVC_RECALL_WAIT_MS: "5000",
      SVC_RATE_LIMIT_DISABLED: "true",
      // The account is looked up anew all the time.
      SVC_ACCOUNT_CACHE_TTL_SECONDS: "1",
      SVC_ACCOUNT_LOOKUPS_PER_IP_PER_MINUTE: "100000",
    });
    const { faults, chain, calls } = networked.chain.devnet;
    const asked = (endpoint: string) =>
      [...calls].reduce(
        (sum, [name, count]) =>
          name === endpoint || name.startsWith(`${endpoint}/`) ? sum + count : sum,
        0,
      );
    const client = networked.client();
    const untouched: string[] = [];
    const texts = new Map<string, string>();
    const remember = async (text: string) => {
      const { job_id } = await client.remember(text);
      texts.set(job_id, text);
    };
    await remember("The first fact of all");
    await until(
      "the first fact is read",
      async () => await codeOf(client.recall("first fact")) === undefined,
    );
    for (const [n, { what, fault }] of OUTAGES.entries()) {
      const name = `${what} ${fault.kind}`;
      // A change of the account makes the relayer ask the key servers again.
      if (name.startsWith("keyServer")) {
        await networked.chain.key(networked.owner, networked.accountId);
      }
      for (const endpoint of what) faults.set(endpoint, fault);
      const before = asked(what[0]!);
      const refused = await codeOf(remember(`Fact number ${n} while ${name}`));
      // What is known of the account may be too old by now to be believed without the chain.
      const mayRefuse = name.startsWith("chain") && refused === "chain_unavailable";
      assert.ok(refused === undefined || mayRefuse, `${name}: ${refused}`);
      const code = await codeOf(client.recall(`fact number ${n}`));
      assert.ok(UNAVAILABLE.has(code), `${name}: ${code}`);
      // Until something was tried meanwhile. What was written here is read here: aggregators are
      // asked for what others wrote.
      const end = Date.now() + (name.startsWith("aggregator") ? 0 : 20_000);
      await poll(async () => {
        if (asked(what[0]!) !== before || Date.now() >= end) return true;
        const trying = await codeOf(client.recall(`fact number ${n}`));
        assert.ok(UNAVAILABLE.has(trying), `${name}: ${trying}`);
        return false;
      }, Boolean);
      untouched.push(...asked(what[0]!) === before ? [name] : []);
      for (const endpoint of what) faults.set(endpoint, undefined);
    }
    assert.deepEqual(untouched.filter((name) => !name.startsWith("aggregator")), []);
    // Everything heals by itself: stored, found, and once each.
    await until("every memory is stored", async () => {
      const jobs = await Promise.all([...texts.keys()].map((id) => client.job(id)));
      const failed = jobs.find(({ status }) => status === "failed");
      assert.equal(failed, undefined, JSON.stringify(failed));
      return jobs.every(({ status }) => status === "done");
    });
    const listed = async () => (await client.memories({ namespace: "default" })).memories;
    await until("memories are listed", async () => await codeOf(listed()) === undefined);
    const memories = await listed();
    assert.deepEqual(memories.map(({ text }) => text).sort(), [...texts.values()].sort());
    assert.equal(new Set(memories.map(({ blob_id }) => blob_id)).size, texts.size);
    const { total, restored } = await client.restore("default");
    assert.deepEqual([total, restored], [texts.size, 0]);
    const registered = chain.transactions
      .filter(({ success }) => success)
      .flatMap(({ commands }) => commands)
      .filter((command) => String(command).includes("register_blob"));
    assert.ok(registered.length > 0 && registered.length <= texts.size);
    // What was started anew finds it all without the network's help.
    await networked.stop();
    await networked.launch();
    const again = networked.client();
    await until("it is found after a restart", async () => {
      const { results } = await again.recall("Fact number 3 while key servers", { limit: 20 });
      return results.length === texts.size;
    });
  });
});

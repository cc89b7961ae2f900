import assert from "node:assert/strict";
import { memoryCipher } from "../../../plugins/memory/cipher.ts";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import { memory } from "../../../plugins/memory/mod.ts";
import { postgres } from "../../../plugins/postgres/mod.ts";
import { DEFAULT_CONFIG } from "../../../src/interfaces/config.ts";
import { Secret } from "../../../src/interfaces/fields.ts";
import type { Embedder } from "../../../src/interfaces/mod.ts";
import type { BackendSource } from "../../../src/interfaces/plugin.ts";
import { createRelayer, type Relayer } from "../../../src/relayer.ts";
import { examine } from "../../../src/program/doctor/checks.ts";
import { runKey } from "../../../src/program/commands/key.ts";
import { guarded, SESSION } from "../../memory/guarded.ts";
import { Gate, intercepted } from "../../memory/intercepted.ts";
import { TestClock, TestKey, TestRelayer } from "../../relayer_fixture.ts";
import { folderForTests } from "../sealer_for_tests.ts";
import { onServer } from "./on_server.ts";

const RELAYER_KEY = new Uint8Array(32).fill(7);

/** A relayer that keeps everything in a database, but for what other backends do. */
function relayerOn(url: string, relayerKey = RELAYER_KEY, others: BackendSource = {}) {
  return createRelayer({
    relayerKey,
    backends: [memory(), postgres({ url: new Secret(url), connections: 8 }), others],
    config: { rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true } },
  });
}

onServer((empty) => {
  Deno.test("what one relayer accepted, the other recalls, replaces and deletes", async () => {
    const url = await empty();
    await using one = await relayerOn(url);
    await using two = await relayerOn(url);
    const [ada, again] = [await one.account("ada"), await two.account("ada")];
    const texts = async (client: typeof ada, query: string) =>
      (await client.recall(query)).results.map(({ text }) => text);

    const { memory_id: id } = await ada.remember("I am allergic to peanuts");
    assert.deepEqual(await texts(again, "peanuts"), ["I am allergic to peanuts"]);
    await again.remember("My sister lives in Zlin");
    assert.deepEqual((await texts(ada, "where does my sister live"))[0], "My sister lives in Zlin");

    await ada.updateMemory(id, { text: "I am allergic to walnuts" });
    assert.deepEqual((await texts(again, "allergic"))[0], "I am allergic to walnuts");
    await again.deleteMemory(id);
    assert.equal(
      (await texts(ada, "allergic to walnuts")).includes("I am allergic to walnuts"),
      false,
    );
    await assert.rejects(ada.memory(id), { code: "memory_not_found" });
  });

  Deno.test("a relayer started later knows what was deleted before", async () => {
    const url = await empty();
    let id: string;
    {
      await using one = await relayerOn(url);
      const ada = await one.account("ada");
      ({ memory_id: id } = await ada.remember("The code is 4711"));
      await ada.recall("code");
      await ada.deleteMemory(id);
    }
    await using two = await relayerOn(url);
    const ada = await two.account("ada");
    assert.deepEqual((await ada.recall("code")).results, []);
    await assert.rejects(ada.memory(id), { code: "memory_not_found" });
  });

  Deno.test("what waits at one goes on at the other when somebody comes who may read it", async () => {
    const url = await empty();
    const gate = new Gate();
    const cipher = guarded(memoryCipher());
    const embedder = intercepted<Embedder>(memoryEmbedder(), {
      embed: async (next, texts, how) => {
        await gate.pass(how.signal);
        return await next(texts, how);
      },
    });
    await using one = await relayerOn(url, RELAYER_KEY, { cipher, embedder });
    await using two = await relayerOn(url, RELAYER_KEY, { cipher });
    const admin = one.backends.accounts.admin!;
    const { accountId } = await admin.create(`0x${"5".repeat(64)}`);
    const key = new TestKey();
    const account = await admin.addKey(accountId, {
      publicKey: key.publicKey,
      label: "test",
      permissions: ["read", "write"],
    });
    const clock = new TestClock();
    const [at, elsewhere] = [one, two].map((relayer) =>
      new TestRelayer(relayer, relayer.backends, clock, key, account)
    );
    gate.close();
    const id = (await at!.post("/api/remember", { text: "tea with honey" })).body.job_id;
    await gate.reached;
    assert.equal((await elsewhere!.get(`/api/remember/${id}`)).body.waits_for, "credential");
    const { body } = await elsewhere!.post("/api/recall", { query: "tea" }, { headers: SESSION });
    assert.deepEqual(body.results.map(({ text }: { text: string }) => text), ["tea with honey"]);
    gate.open();

    // What can be ended is, before its owner goes.
    gate.close();
    const more: string[] = [];
    for (let i = 0; i < 3; i++) {
      more.push((await at!.post("/api/remember", { text: `tea ${i}` })).body.job_id);
    }
    const asking = Promise.all(more.map((one) => elsewhere!.get(`/api/remember/${one}`)));
    setTimeout(() => gate.open(), 300);
    for (const { body } of await asking) assert.equal(body.status, "done");
  });

  Deno.test("the key of all is changed while they run, and each takes it at its next start", async () => {
    const url = await empty();
    await using folder = await folderForTests();
    const hex = (byte: number) => new Uint8Array(32).fill(byte).toHex();
    const next = new Uint8Array(32).fill(8);
    for (const [name, byte] of [["present", 7], ["next", 8], ["third", 9]] as const) {
      await Deno.writeTextFile(`${folder.path}/${name}`, `${hex(byte)}\n`, { mode: 0o600 });
    }
    const envOf = (present: string) => ({
      HOME: folder.path,
      SVC_STORE: "postgres",
      SVC_DATABASE_URL: url,
      SVC_EMBEDDER: "memory",
      SVC_PORT: "0",
      SVC_WEB_PORT: "0",
      SIDECAR_URL: "http://127.0.0.1:0",
      SVC_RELAYER_KEY_FILE: `${folder.path}/${present}`,
    });
    const rotate = async (present: string, ...args: string[]) => {
      const said: string[] = [];
      const write = (text: string) => void said.push(text);
      const io = { env: envOf(present), cwd: folder.path, write, writeError: write };
      return { code: await runKey(["rotate", ...args], io), text: said.join("") };
    };
    assert.match((await rotate("present", "--next", `${folder.path}/next`)).text, /nothing in/);
    await using one = await relayerOn(url);
    await (await one.account("ada")).remember("The code is 4711");
    assert.match((await rotate("present")).text, /with --next/);
    assert.match(
      (await rotate("third", "--next", `${folder.path}/next`)).text,
      /another relayer key/,
    );
    const doctor = await examine(envOf("third"), { cwd: folder.path, isPublic: false });
    const looked = doctor.filter(({ check }) => check === "relayer key").map(({ found }) => found);
    assert.deepEqual(looked, ["a start compares it with SVC_STORE=postgres"]);
    const { code, text } = await rotate("present", "--next", `${folder.path}/next`);
    assert.equal(code, 0, text);
    const found = async (relayer: Relayer) =>
      (await (await relayer.account("ada")).recall("code")).results;
    {
      // The present one still opens, as for a relayer that is started again before it has the next.
      await using again = await relayerOn(url);
      assert.equal((await found(again)).length, 1);
    }
    await using two = await relayerOn(url, next);
    assert.equal((await found(two))[0]!.text, "The code is 4711");
    assert.equal((await found(one)).length, 1, "one that runs goes on");
    // A machine that has the first key still does not shut the others out.
    const late = await rotate("present", "--next", `${folder.path}/third`);
    assert.match(late.text, /was changed since/);
    // The first key is what the data is sealed under, for good; the second is shut out by a third.
    assert.equal((await rotate("next", "--next", `${folder.path}/third`)).code, 0);
    await using three = await relayerOn(url, new Uint8Array(32).fill(9));
    assert.equal((await found(three)).length, 1);
    await assert.rejects(relayerOn(url, next), { message: /another relayer key/ });
  });
});

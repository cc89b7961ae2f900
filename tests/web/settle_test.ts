import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { letAllCount, takePlace } from "../../web/src/memory/standing/settle.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";

/** The client of a page. */
function clientOf({ relayer, key, account }: TestRelayer): SvcClient {
  const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname: "127.0.0.1", port: 40_000 };
  return new SvcClient({
    baseUrl: "http://localhost:8000",
    privateKey: key.seed.toHex(),
    accountId: account.accountId,
    fetch: async (url, init) => await relayer.fetch(new Request(url, init), { remoteAddr }),
  });
}

/** Texts of what counts, by their age. */
async function counting(client: SvcClient): Promise<string[]> {
  return (await client.memories({ order: "oldest" })).memories.map(({ text }) => text!);
}

Deno.test("one of two memories takes the other's place, gives it back, and the other way round", async () => {
  await using svc = await startRelayer();
  const client = clientOf(svc);
  const [berlin, lisbon] = [await svc.remember("Berlin"), await svc.remember("Lisbon")];
  await takePlace(client, lisbon, [berlin]);
  assert.deepEqual(await counting(client), ["Lisbon"]);
  await takePlace(client, lisbon, [berlin]);
  assert.deepEqual(await counting(client), ["Lisbon"], "what is said twice is said once");
  await takePlace(client, berlin, [lisbon]);
  assert.deepEqual(await counting(client), ["Berlin"]);
  await letAllCount(client, [lisbon, berlin]);
  assert.deepEqual(await counting(client), ["Berlin", "Lisbon"]);
  const { version } = await client.memory(berlin);
  await letAllCount(client, [lisbon, berlin]);
  assert.equal((await client.memory(berlin)).version, version, "nothing is written for nothing");
});

Deno.test("what a rule found is settled for everybody, and waits for nobody any more", async () => {
  await using svc = await startRelayer({ config: { conflicts: "suggest" } });
  const client = clientOf(svc);
  const locker = (number: number) => svc.remember(`My locker is number ${number}`);
  const waiting = async () =>
    (await client.call("GET /api/review", { query: {}, decrypts: true })).items.map(({ text }) =>
      text
    );
  const [older, newer] = [await locker(15), await locker(92)];
  assert.deepEqual((await client.memory(newer)).conflicts_with, [older]);
  assert.equal((await waiting()).length, 1);
  await takePlace(client, older, [newer]);
  assert.deepEqual(await counting(client), ["My locker is number 15"]);
  assert.deepEqual(await waiting(), []);
  await letAllCount(client, [newer, older]);
  assert.equal((await counting(client)).length, 2);
  assert.equal((await client.memory(newer)).conflicts_with, undefined);
  const { results } = await client.recall("which locker is mine");
  assert.deepEqual(results.map((hit) => hit.conflicts_with), [undefined, undefined]);
  await takePlace(client, newer, [older]);
  assert.deepEqual(await counting(client), ["My locker is number 92"]);
});

Deno.test("in a chain only the one that is right counts, and what else it replaced stays over", async () => {
  await using svc = await startRelayer();
  const client = clientOf(svc);
  const bonn = await svc.remember("Bonn");
  const berlin = await svc.remember("Berlin", { supersedes: [bonn] });
  const oslo = await svc.remember("Oslo");
  const lisbon = await svc.remember("Lisbon", { supersedes: [berlin, oslo] });
  await takePlace(client, bonn, [lisbon]);
  assert.deepEqual(await counting(client), ["Bonn"]);
  await letAllCount(client, [bonn, lisbon]);
  assert.deepEqual(await counting(client), ["Bonn", "Lisbon"]);
});

Deno.test("memories with one key are settled as well, and who is right keeps the key", async () => {
  await using svc = await startRelayer();
  const client = clientOf(svc);
  const key = "me/home city";
  const ids = [];
  for (const text of ["Bonn", "Berlin", "Lisbon"]) ids.push(await svc.remember(text, { key }));
  const [bonn, berlin, lisbon] = ids as [string, string, string];
  assert.deepEqual(await counting(client), ["Lisbon"]);
  await takePlace(client, bonn, [lisbon]);
  assert.deepEqual(await counting(client), ["Bonn"]);
  assert.equal((await client.memory(bonn)).key, key);
  await letAllCount(client, [bonn, berlin]);
  assert.deepEqual(await counting(client), ["Bonn", "Berlin"]);
  await svc.remember("Rome", { key });
  assert.deepEqual(await counting(client), ["Berlin", "Rome"], "the key still works");
});

Deno.test("what somebody else deleted or changed meanwhile is not settled", async () => {
  await using svc = await startRelayer();
  const client = clientOf(svc);
  const [berlin, lisbon] = [await svc.remember("Berlin"), await svc.remember("Lisbon")];
  await client.deleteMemory(berlin);
  await assert.rejects(takePlace(client, lisbon, [berlin]), { code: "memory_not_found" });
  await assert.rejects(letAllCount(client, [lisbon, berlin]), { code: "memory_not_found" });
  assert.deepEqual(await counting(client), ["Lisbon"]);
});

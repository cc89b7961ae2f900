import assert from "node:assert/strict";
import { memoryBlobStore } from "../../../plugins/memory/blob_store.ts";
import { SignedIn } from "./signed_in.ts";

Deno.test("restore goes on until nothing is left", async () => {
  const blobStore = memoryBlobStore();
  await using first = await SignedIn.open({ backends: { blobStore } });
  for (let i = 0; i < 120; i++) {
    await first.svc.post("/api/remember", { text: `tea ${i}`, namespace: "work" });
  }
  await first.svc.relayer.idle();
  const whole = await first.run(["restore", "--ns", "work"]);
  assert.equal(whole.out, 'Nothing of "work" is missing: 120 blobs looked at.\n');
  const { accounts, cipher } = first.svc.backends;
  await using second = await SignedIn.open({
    backends: { accounts, cipher, blobStore },
    existing: { key: first.svc.key, account: first.svc.account },
  });
  const some = await second.run(["restore", "--ns", "work", "--limit", "10"]);
  assert.deepEqual([some.code, some.out], [
    0,
    'Restored 10 memories of "work". 110 blobs left (--limit).\n',
  ]);
  const rest = await second.run(["restore", "--ns", "work"], { isErrorTerminal: true });
  assert.equal(rest.out, 'Restored 110 memories of "work".\n');
  assert.match(rest.err, /^\r50 memories restored, 60 to go/);
  assert.equal(second.asked.filter((one) => one.includes("restore")).length, 4);
  assert.equal((await second.json(["restore", "--ns", "work"])).skipped, 120);
  const none = await second.run(["restore", "--ns", "wrok"]);
  assert.equal(none.out, 'There are no memories in "wrok". Did you mean "work"?\n');
});

Deno.test("restore waits for a busy relayer, and gives up what cannot be read", async () => {
  await using here = await SignedIn.open();
  const counts = { restored: 0, skipped: 3, failed: 500, remaining: 7, total: 510 };
  let asked = 0;
  const limits: number[] = [];
  here.between = async (request) => {
    if (!request.url.endsWith("/api/restore")) return undefined;
    if (asked++ < 4) {
      const body = { error: "No", code: "overloaded", request_id: "r" };
      return Response.json(body, { status: 503, headers: { "retry-after": "2" } });
    }
    limits.push((await request.json()).limit);
    return Response.json({ ...counts, namespace: "default", owner: here.svc.owner });
  };
  const { code, out } = await here.run(["restore"]);
  assert.deepEqual([code, limits], [1, [50, 500]]);
  assert.equal(
    out,
    'Nothing of "default" could be restored: 3 blobs looked at. ' +
      "500 blobs could not be read: try again later.\n",
  );
  assert(here.slept.includes(2000));
});

import assert from "node:assert/strict";
import { memoryCipher } from "../../plugins/memory/cipher.ts";
import { SvcError } from "../../src/errors.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { Caller } from "../../src/memory/caller.ts";
import { ALL_OWNERS } from "../../src/memory/owners/owners.ts";
import { encodeRecord } from "../../src/memory/record.ts";
import { type ReadingWords, readWords } from "../../src/memory/recall/read_words.ts";
import { entryOf, ListStore, scopeOf, unit } from "../index/fakes.ts";
import { startRelayer, TestClock } from "../relayer_fixture.ts";
import { intercepted } from "./intercepted.ts";

const MEMORIES = 800;
const WANTED = "my bicycle is locked at the station";

Deno.test("memories whose words are not known yet are found by meaning beside others", async () => {
  let failing = false;
  const cipher = intercepted(memoryCipher(), {
    open: async (next, items, context) =>
      failing
        ? items.map(() => ({
          status: "rejected" as const,
          reason: new SvcError("key_service_unavailable"),
        }))
        : await next(items, context),
  });
  const clock = new TestClock();
  const first = await startRelayer({ clock, backends: { cipher } });
  const texts = Array.from({ length: MEMORIES }, (_, i) => `note number ${i} about ${i % 37}`);
  texts[MEMORIES - 10] = WANTED;
  for (let at = 0; at < MEMORIES; at += 20) {
    const items = texts.slice(at, at + 20).map((text) => ({ text }));
    assert.equal((await first.post("/api/remember/bulk", { items })).status, 202);
  }
  await first.relayer.idle();
  await first.relayer[Symbol.asyncDispose]();
  const { backends, key, account } = first;
  await using svc = await startRelayer({ clock, backends, existing: { key, account } });
  failing = true;
  const refused = await svc.post("/api/recall", { query: "where is my bicycle" });
  assert.equal(refused.body.code, "key_service_unavailable");
  failing = false;
  for (const mode of ["semantic", "hybrid"]) {
    assert.deepEqual(await svc.recall("where is my bicycle", { limit: 1, mode }), [WANTED], mode);
  }
});

/** A domain whose cipher needs a credential, and whose `opens` is called before each opening. */
function withCredential(opens: () => void, forgetting: number[] = []): ReadingWords {
  return {
    index: { forgetWordsAfter: (_: unknown, ms: number) => forgetting.push(ms) },
    now: Date.now,
    owners: ALL_OWNERS,
    savedWords: { read: () => Promise.resolve([]), drops: () => 0, pauseMs: 0 },
    cipher: {
      needsCredential: true,
      open: (items: readonly { memoryId: string }[]) => {
        opens();
        return Promise.resolve(items.map(({ memoryId }) => ({
          status: "fulfilled",
          value: encodeRecord({
            v: 1,
            id: memoryId,
            version: 1,
            text: "secret",
            created_at: "2026-01-01T00:00:00Z",
            updated_at: "2026-01-01T00:00:00Z",
            importance: 0.5,
            source: "remember",
          }),
        })));
      },
    },
  } as unknown as ReadingWords;
}

const SCOPE = scopeOf("a");
const CALLER = { account: { accountId: "0x02", owner: SCOPE.owner } } as Caller;
const ENTRIES = Array.from({ length: 200 }, (_, i) => entryOf(`m${i}`, [unit(1, i)]));

function loadable(): ScopeIndex {
  const vectorStore = new ListStore(ENTRIES);
  return new ScopeIndex({ vectorStore, dimensions: 2, budgetBytes: 2 ** 26 });
}

Deno.test("words that a reading got to know are forgotten, also where it was broken off", async () => {
  for (const failsAt of [Infinity, 4]) {
    await using index = loadable();
    let calls = 0;
    const forgetting: number[] = [];
    const domain = withCredential(() => {
      if (++calls === failsAt) throw new SvcError("key_service_unavailable");
    }, forgetting);
    await index.read(SCOPE, async (loaded) => {
      const reading = readWords(domain, CALLER, loaded);
      if (failsAt === Infinity) await reading;
      else await assert.rejects(reading, { code: "key_service_unavailable" });
      assert.ok(loaded.withoutText().length < 200);
    });
    assert.deepEqual(forgetting, [300_000]);
  }
});

Deno.test("a memory that is corrected while words are read is found by them", async () => {
  for (const corrections of [3, Infinity]) {
    await using index = loadable();
    let version = 1;
    const domain = withCredential(() => {
      if (version <= corrections) {
        index.apply([{ ...entryOf(`m${version}`, [unit(1, 0)]), version: ++version }]);
      }
    });
    // Who never stops correcting keeps no recall waiting.
    await index.read(SCOPE, async (loaded) => {
      await readWords(domain, CALLER, loaded);
      assert.equal(loaded.withoutText().length, corrections === Infinity ? 1 : 0);
    });
  }
});

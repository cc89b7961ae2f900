import assert from "node:assert/strict";
import { DurableRelayer } from "./durable.ts";
import { intercepted } from "./intercepted.ts";
import { poll } from "../within.ts";

const COUNT = 300;

async function files(dir: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(`${dir}/words`))).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** A relayer with many memories, and a count of the records it opens. */
async function start(
  textOf = (number: number) => `tea number ${number}`,
): Promise<{ durable: DurableRelayer; opened: () => number }> {
  let opened = 0;
  const durable = await DurableRelayer.start({
    wrap: {
      cipher: (cipher) =>
        intercepted(cipher, {
          open: (next, ...args) => {
            opened += args[0].length;
            return next(...args);
          },
        }),
    },
  });
  for (let at = 0; at < COUNT; at += 20) {
    const items = Array.from({ length: 20 }, (_, i) => ({ text: textOf(at + i) }));
    await durable.svc.post("/api/remember/bulk", { items });
  }
  await durable.svc.relayer.idle();
  return {
    durable,
    opened: () => {
      const count = opened;
      opened = 0;
      return count;
    },
  };
}

/** Recalls by words, and waits until the words are on disk. */
async function write(durable: DurableRelayer): Promise<void> {
  await durable.svc.recall("number 7");
  await poll(() => files(durable.dir), (names) => !names.every((name) => name.endsWith(".new")));
}

Deno.test("after a restart words are taken from disk, not from every memory", async () => {
  const { durable, opened } = await start();
  await using _ = durable;
  await write(durable);
  const hits = () => durable.svc.post("/api/recall", { query: "number 7", limit: 5 });
  const before = (await hits()).body.results;
  await durable.restart();
  opened();
  assert.deepEqual((await hits()).body.results, before);
  assert.ok(opened() < 20, "the first recall opens the hits and little more");
  await durable.svc.remember("tea number 1000");
  const [first] = await durable.svc.recall("number 1000");
  assert.equal(first, "tea number 1000");
});

Deno.test("the words of a deleted memory leave the disk with it", async () => {
  const { durable, opened } = await start();
  await using _ = durable;
  await write(durable);
  const { results } = (await durable.svc.post("/api/recall", { query: "number 7" })).body;
  await durable.svc.send("DELETE", `/api/memories/${results[0].memory_id}`);
  assert.deepEqual(await files(durable.dir), []);
  await durable.restart();
  opened();
  assert.ok(!(await durable.svc.recall("number 7")).includes(results[0].text));
  assert.ok(opened() >= COUNT - 1);
});

Deno.test("the file is sealed, and one that is damaged is ignored", async () => {
  const { durable, opened } = await start();
  await using _ = durable;
  await write(durable);
  const [name = ""] = await files(durable.dir);
  assert.match(name, /^[0-9a-f]{64}$/);
  const path = `${durable.dir}/words/${name}`;
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  const before = await durable.svc.recall("number 7");
  for (const damage of [0, 5000]) {
    await durable.restart({}, async () => {
      const bytes = await Deno.readFile(path);
      bytes[damage]! ^= 1;
      await Deno.writeFile(path, bytes);
    });
    opened();
    assert.deepEqual(await durable.svc.recall("number 7"), before);
    assert.ok(opened() >= COUNT);
  }
});

/** The sealed records of a file, each with its length in front. */
function records(file: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let at = 0; at < file.length;) {
    const end = at + 4 + new DataView(file.buffer, file.byteOffset).getUint32(at);
    found.push(file.subarray(at, end));
    at = end;
  }
  return found;
}

Deno.test("records of two files, in another order or not all of them are ignored", async () => {
  let word = 0;
  const { durable, opened } = await start((number) => {
    const own = Array.from({ length: 60 }, () => (word++ * 7919 % 1e9).toString(36));
    return `tea number ${number} ${own.join(" ")}`;
  });
  await using _ = durable;
  await write(durable);
  const path = `${durable.dir}/words/${(await files(durable.dir))[0]}`;
  const earlier = records(await Deno.readFile(path));
  assert.ok(earlier.length >= 2);
  // Removed and written again, as it is after a deletion.
  await durable.restart({}, () => Deno.remove(path));
  const before = await durable.svc.recall("number 7");
  await write(durable);
  const now = records(await Deno.readFile(path));
  assert.equal(now.length, earlier.length);
  const [a, b, ...rest] = now as [Uint8Array, Uint8Array, ...Uint8Array[]];
  const changed = [
    [b, a, ...rest],
    [b, ...rest],
    now.slice(0, -1),
    [a, earlier[1]!, ...rest],
    [earlier[0]!, b, ...rest],
    [a, b.subarray(0, -1), ...rest],
    // As one record without its length in front, which was the format once.
    [a.subarray(4)],
    [],
  ];
  for (const [i, parts] of [...changed, now].entries()) {
    await durable.restart({}, () => Deno.writeFile(path, ReadableStream.from(parts)));
    opened();
    assert.deepEqual(await durable.svc.recall("number 7"), before);
    assert.equal(opened() < COUNT, i === changed.length, `change ${i}`);
  }
});

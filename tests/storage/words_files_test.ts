import assert from "node:assert/strict";
import { WordsFiles } from "../../src/storage/words_files.ts";

const SCOPE = { owner: "0x1", namespace: "notes" };
const NAME = "0a";
const HOLD = { settled: () => Promise.resolve(), [Symbol.dispose]() {} };

interface Folder extends AsyncDisposable {
  readonly files: WordsFiles;
  readonly words: string;
  names(): Promise<string[]>;
}

async function folder(): Promise<Folder> {
  const dir = await Deno.makeTempDir();
  const words = `${dir}/words`;
  const files = new WordsFiles(dir, () => Uint8Array.of(10));
  return {
    files,
    words,
    names: async () => (await Array.fromAsync(Deno.readDir(words))).map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: async () => {
      await files[Symbol.asyncDispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(new TextEncoder().encode(text));
}

/** The records of a file, one after the other; `undefined` where there are none. */
async function text(files: WordsFiles): Promise<string | undefined> {
  const records = await files.read(SCOPE);
  if (records.length === 0) return undefined;
  return records.map((record) => new TextDecoder().decode(record)).join("");
}

Deno.test("a file is what was made last, and goes when its scope is dropped", async () => {
  await using made = await folder();
  const { files } = made;
  assert.equal(await text(files), undefined);
  await files.write(SCOPE, files.drops(SCOPE), () => parts("one ", "two"), HOLD);
  assert.equal(await text(files), "one two");
  await files.write(SCOPE, files.drops(SCOPE), () => parts("three"), HOLD);
  assert.equal(await text(files), "three");
  const turn = files.drops(SCOPE);
  await files.drop(SCOPE);
  assert.deepEqual(await made.names(), []);
  await files.write(SCOPE, turn, () => parts("of before"), HOLD);
  assert.deepEqual(await made.names(), []);
});

Deno.test("what fails half way leaves the file as it was", async () => {
  await using made = await folder();
  const { files } = made;
  await files.write(SCOPE, 0, () => parts("first"), HOLD);
  const failing = async function* () {
    yield* parts("second");
    await Promise.resolve();
    throw new Error("cannot be sealed");
  };
  await assert.rejects(files.write(SCOPE, 0, failing, HOLD), /cannot be sealed/);
  assert.equal(await text(files), "first");
  assert.deepEqual(await made.names(), [NAME]);
});

Deno.test("a drop ends a write that is under way, and leaves nothing of it", async () => {
  await using made = await folder();
  const { files } = made;
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let count = 0;
  const write = files.write(SCOPE, 0, async function* () {
    for (; count < 1000; count++) {
      if (count === 5) {
        begun.resolve();
        await gate.promise;
      }
      yield* parts("sealed words");
    }
  }, HOLD);
  await begun.promise;
  const drop = files.drop(SCOPE);
  gate.resolve();
  await Promise.all([write, drop]);
  assert.ok(count < 10, `${count} parts were made`);
  assert.deepEqual(await made.names(), []);
});

Deno.test("what a crash left half written goes with a drop, and before the first write", async () => {
  await using made = await folder();
  const { files, words } = made;
  await Deno.mkdir(words);
  await Deno.writeTextFile(`${words}/${NAME}.new`, "half");
  await files.drop(SCOPE);
  assert.deepEqual(await made.names(), []);
  for (const name of [NAME, "0b", "0c"]) await Deno.writeTextFile(`${words}/${name}.new`, "half");
  await Deno.writeTextFile(`${words}/0c`, "whole");
  await files.write(SCOPE, files.drops(SCOPE), () => parts("words"), HOLD);
  assert.deepEqual(await made.names(), [NAME, "0c"]);
});

Deno.test("the end waits for a write, and takes no other", async () => {
  await using made = await folder();
  const { files } = made;
  const write = files.write(SCOPE, 0, () => parts("last", " words"), HOLD);
  await files[Symbol.asyncDispose]();
  assert.deepEqual(await made.names(), [NAME]);
  await write;
  await files.write(SCOPE, 0, () => parts("later"), HOLD);
  assert.equal(await text(files), "last words");
});

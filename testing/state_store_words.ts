import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import type { StateStore } from "../src/interfaces/mod.ts";
import { JOB_SCOPE } from "./job_store.ts";
import { law } from "./law.ts";
import type { Case } from "./suite.ts";

/** Where words are kept. */
interface WordsPlace extends AsyncDisposable {
  open(): Promise<StateStore> | StateStore;
}

const LARGE = 300_000;

/** Records of so many bytes, which are gone once the next is made. */
function records(...lengths: readonly number[]): () => AsyncGenerator<Uint8Array> {
  return async function* () {
    for (const length of lengths) {
      const record = new Uint8Array(length).fill(length);
      yield await Promise.resolve(record);
      record.fill(0);
    }
  };
}

async function lengthsOf({ words }: StateStore, namespace = JOB_SCOPE.namespace) {
  const found = await words.read({ ...JOB_SCOPE, namespace });
  ok(found.every((record) => record.every((byte) => byte === (record.length & 255))));
  return found.map(({ length }) => length);
}

/** What is asked of the words that openings share. */
export const WORDS_CASES: readonly Case<WordsPlace>[] = [
  law("keeps the records that were written last, for whoever reads", async (place: WordsPlace) => {
    await using one = await place.open();
    await using other = await place.open();
    deepStrictEqual(await lengthsOf(one), []);
    await one.owners.take(JOB_SCOPE.owner, true);
    await one.words.write(JOB_SCOPE, records(3, LARGE, 2, LARGE + 1));
    deepStrictEqual(await lengthsOf(other), [3, LARGE, 2, LARGE + 1]);
    await one.words.write(JOB_SCOPE, records(5));
    deepStrictEqual(await lengthsOf(other), [5]);
    deepStrictEqual(await lengthsOf(other, `${JOB_SCOPE.namespace}0`), []);
    await one.words.drop(JOB_SCOPE);
    await one.words.drop(JOB_SCOPE);
    deepStrictEqual(await lengthsOf(other), []);
  }),
  law("keeps all records of a writing, or none", async (place: WordsPlace) => {
    await using one = await place.open();
    await one.owners.take(JOB_SCOPE.owner, true);
    await one.words.write(JOB_SCOPE, records(5));
    const failing = async function* () {
      yield* records(1, 2)();
      throw new Error("cannot be sealed");
    };
    await rejects(one.words.write(JOB_SCOPE, failing));
    deepStrictEqual(await lengthsOf(one), [5]);
  }),
  law("takes no records of an owner that is another opening's", async (place: WordsPlace) => {
    await using one = await place.open();
    await using other = await place.open();
    await one.owners.take(JOB_SCOPE.owner, true);
    await rejects(other.words.write(JOB_SCOPE, records(5)), { code: "overloaded" });
    deepStrictEqual(await lengthsOf(one), []);
  }),
];

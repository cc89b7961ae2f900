import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { letInNextKey, openDataKey } from "../../src/sealing/data_key.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { keysThatOpen } from "../../src/storage/core/key_slot_table.ts";

const keyOf = (byte: number) => new RelayerKey(new Uint8Array(32).fill(byte));
const [FIRST, SECOND, THIRD, FOURTH] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)] as const;

async function inFile(test: (path: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    test(`${folder}/core.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const refused = (folder: string) => ({
  name: "SvcError",
  code: "invalid_parameter",
  message: `The data in ${folder} belongs to another relayer key than that of /k`,
});

Deno.test("data belongs to its first relayer key", async () => {
  await inFile((path) => {
    using core = new CoreDb(path);
    assert.equal(core.isBound, false);
    assert.deepEqual(keysThatOpen(path), []);
    assert.equal(openDataKey(core, FIRST).reveal(), FIRST.reveal());
    using later = new CoreDb(path);
    assert.equal(openDataKey(later, FIRST).reveal(), FIRST.reveal());
    assert.throws(() => openDataKey(later, SECOND, "/k"), refused(core.folder));
    assert.deepEqual(keysThatOpen(path), [FIRST.fingerprint()]);
    assert.throws(() => letInNextKey(core, SECOND, THIRD, "/k"), refused(core.folder));
  });
});

Deno.test("the next key opens beside the present one, and shuts it out when it is used", async () => {
  await inFile((path) => {
    using core = new CoreDb(path);
    openDataKey(core, FIRST);
    assert.equal(letInNextKey(core, FIRST, SECOND), false);
    assert.equal(openDataKey(core, SECOND).reveal(), FIRST.reveal());
    // A change that was not ended is given up by the next one.
    assert.equal(letInNextKey(core, SECOND, FOURTH), true);
    assert.equal(letInNextKey(core, SECOND, THIRD), true);
    assert.throws(() => openDataKey(core, FOURTH, "/k"), refused(core.folder));
    assert.equal(openDataKey(core, SECOND).reveal(), FIRST.reveal());
    assert.equal(openDataKey(core, SECOND).reveal(), FIRST.reveal());
    assert.equal(openDataKey(core, THIRD).reveal(), FIRST.reveal());
    assert.throws(() => openDataKey(core, SECOND, "/k"), refused(core.folder));
    assert.deepEqual(keysThatOpen(path), [FIRST.fingerprint(), THIRD.fingerprint()]);
    assert.throws(() => letInNextKey(core, SECOND, FOURTH, "/k"), refused(core.folder));
    // What was sealed first is never shut out: it is the key itself.
    assert.equal(openDataKey(core, FIRST).reveal(), FIRST.reveal());
  });
});

Deno.test("keys are let in to data of version 0.1.0, which has no table of them", async () => {
  await inFile((path) => {
    new CoreDb(path)[Symbol.dispose]();
    {
      using plain = new DatabaseSync(path);
      plain.prepare("insert into meta values ('relayer_key', ?)").run(FIRST.fingerprint());
      plain.exec("drop table key_slots");
    }
    assert.deepEqual(keysThatOpen(path), [FIRST.fingerprint()]);
    using core = new CoreDb(path);
    letInNextKey(core, FIRST, SECOND);
    assert.equal(openDataKey(core, SECOND).reveal(), FIRST.reveal());
  });
});

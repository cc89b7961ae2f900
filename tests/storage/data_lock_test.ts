import assert from "node:assert/strict";
import { lockDataFolder } from "../../src/storage/data_lock.ts";
import { folderForTests } from "../plugins/sealer_for_tests.ts";

Deno.test("a data directory that is let go in a moment is taken, and one that is kept is refused", async () => {
  await using folder = await folderForTests();
  const first = await lockDataFolder(folder.path);
  await assert.rejects(lockDataFolder(folder.path), {
    code: "invalid_parameter",
    message: /Another relayer uses/,
  });
  const third = lockDataFolder(folder.path);
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
});

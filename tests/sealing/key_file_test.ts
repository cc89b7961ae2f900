import assert from "node:assert/strict";
import { keyFile } from "../../mod.ts";
import { folderForTests } from "../plugins/sealer_for_tests.ts";

const POSIX = Deno.build.os !== "windows";

Deno.test("a key file is made once, for its owner alone", async () => {
  await using folder = await folderForTests();
  const path = `${folder.path}/keys/relayer.key`;
  const [first, second] = await Promise.all([keyFile(path), keyFile(path)]);
  assert.equal(first.length, 32);
  assert.deepEqual(second, first);
  assert.deepEqual(await keyFile(path), first);
  assert.equal((await Deno.readTextFile(path)).trim(), first.toHex());
  if (POSIX) assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
});

Deno.test("a file that is no key is refused, and left as it is", async () => {
  await using folder = await folderForTests();
  const path = `${folder.path}/relayer.key`;
  for (const text of ["", "ab".repeat(31), `${"ab".repeat(32)} secret`, "zz".repeat(32)]) {
    await Deno.writeTextFile(path, text, { mode: 0o600 });
    await assert.rejects(keyFile(path), {
      code: "invalid_parameter",
      message: `The relayer key in ${path} must be 64 hex characters`,
    });
    assert.equal(await Deno.readTextFile(path), text);
  }
  await assert.rejects(keyFile(folder.path), { code: "invalid_parameter" });
});

Deno.test({
  name: "a key that other users may read is refused",
  ignore: !POSIX,
  async fn() {
    await using folder = await folderForTests();
    const path = `${folder.path}/relayer.key`;
    await keyFile(path);
    await Deno.chmod(path, 0o640);
    const refusal = { code: "invalid_parameter", message: /open to other users/ };
    await assert.rejects(keyFile(path), refusal);
    await assert.rejects(keyFile(path), refusal, "it was mended by the way");
    await Deno.chmod(path, 0o400);
    await keyFile(path);
    await Deno.symlink(path, `${path}.link`);
    await assert.rejects(keyFile(`${path}.link`), { code: "invalid_parameter" });
  },
});

import assert from "node:assert/strict";
import { replaceFile } from "../src/replace_file.ts";

/** A rename that fails with a code so many times. */
function failing(code: string, times: number) {
  const pauses: number[] = [];
  let tries = 0;
  const options = {
    rename: () => {
      if (++tries > times) return Promise.resolve();
      return Promise.reject(Object.assign(new Error(code), { code }));
    },
    pause: (ms: number) => Promise.resolve(pauses.push(ms)),
  };
  return { options, pauses, tries: () => tries };
}

Deno.test("on Windows a rename waits for whoever has the file open, a while", async () => {
  for (const code of ["EPERM", "EBUSY", "EACCES"]) {
    const { options, tries } = failing(code, 3);
    await replaceFile("a", "b", { ...options, isWindows: true });
    assert.equal(tries(), 4);
  }
  const forGood = failing("EPERM", 100);
  const refused = replaceFile("a", "b", { ...forGood.options, isWindows: true });
  await assert.rejects(refused, { code: "EPERM" });
  const waited = forGood.pauses.reduce((sum, ms) => sum + ms, 0);
  assert.ok(waited > 1000 && waited < 5000, `${waited} ms`);
});

Deno.test("another failure of a rename is told at once, and so is every one elsewhere", async () => {
  const missing = failing("ENOENT", 1);
  const call = replaceFile("a", "b", { ...missing.options, isWindows: true });
  await assert.rejects(call, { code: "ENOENT" });
  const denied = failing("EACCES", 1);
  const elsewhere = replaceFile("a", "b", { ...denied.options, isWindows: false });
  await assert.rejects(elsewhere, { code: "EACCES" });
  assert.deepEqual([missing.tries(), denied.tries()], [1, 1]);
});

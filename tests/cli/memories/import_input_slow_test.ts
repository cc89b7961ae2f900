import assert from "node:assert/strict";
import { verifies } from "../../requirements.ts";
import { exportOf } from "./exports.ts";
import { SignedIn } from "./signed_in.ts";

/** A text in small pieces, as a slow program writes it. */
function pieces(text: string, size = 1000): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
}

Deno.test("an export is taken from standard input as it comes, and once", async () => {
  verifies("13.4-10");
  await using here = await SignedIn.open();
  const text = exportOf(600);
  const taken = await here.run(["import", "-"], { stdin: pieces(text) });
  assert.deepEqual(taken, { code: 0, out: "Took 600 memories.\n", err: "" });
  const again = await here.run(["import", "-"], { stdin: pieces(text, 1_000_000) });
  assert.deepEqual(again.out, "Took 0 memories.\n  600 are there already\n");
  const cut = await here.run(["import", "-"], { stdin: pieces(text.slice(0, 100_000)) });
  assert.match(cut.err, /standard input line \d+: the line is not JSON/);
  assert.match(cut.err, /^standard input: the export has no last line: it is not complete\.$/m);
  // Nothing is left in the home folder.
  assert.deepEqual(await here.terminal.list(""), [".svc"]);
});

Deno.test("standard input is recognised like a file, or is what --from says", async () => {
  await using here = await SignedIn.open();
  const mem0 = JSON.stringify({ memories: [{ memory: "Ada likes tea" }] });
  assert.equal(
    (await here.run(["import", "-"], { stdin: pieces(mem0, 7) })).out,
    "Took 1 memory.\n",
  );
  const notes = await here.run(["import", "-", "--from", "markdown"], {
    stdin: pieces("- no nuts"),
  });
  assert.equal(notes.out, "Took 1 memory.\n");
  const unknown = await here.run(["import", "-"], { stdin: pieces("no nuts") });
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /^standard input: /);
  const nothing = await here.run(["import", "-"]);
  assert.equal(nothing.code, 1);
  const twice = await here.run(["import", "-", "-"], { stdin: pieces(mem0) });
  assert.deepEqual([twice.code, twice.out], [2, ""]);
  const both = await here.run(["import", "-", "--passphrase-file", "-"], { stdin: pieces(mem0) });
  assert.deepEqual([both.code, both.out], [2, ""]);
});

Deno.test({
  name: "a named pipe is read like a file",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using here = await SignedIn.open();
    const path = `${here.terminal.home}/pipe`;
    const made = await new Deno.Command("mkfifo", { args: [path] }).output();
    assert.equal(made.success, true);
    const writing = Deno.writeTextFile(path, exportOf(300), { create: false });
    assert.equal((await here.run(["import", "~/pipe"])).out, "Took 300 memories.\n");
    await writing;
  },
});

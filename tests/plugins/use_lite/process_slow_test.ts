import assert from "node:assert/strict";
import { getPriority } from "node:os";
import plugin, { useLiteEmbedder } from "../../../plugins/use_lite/mod.ts";
import type { Permissions } from "../../../src/interfaces/plugin.ts";
import { LOCKED } from "../../locked.ts";
import { newThreads, threadNiceness } from "../../program/thread_niceness.ts";

Deno.test("it runs with exactly the plugin's permissions, and each path is needed", async () => {
  const { read = [], sys = [] } = await plugin.permissions?.("embedder", {}, "") ?? {};
  assert.equal(await embedInChild({ read, sys }), "1\n");
  assert.equal(await embedInChild({ read }), "1\n", "it only asks to be slower");
  for (const path of read) {
    const fewer = read.filter((other) => other !== path);
    assert.match(await embedInChild({ read: fewer, sys }), /unavailable/);
  }
});

Deno.test({
  name: "its thread lets the others of the process go first",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const own = getPriority();
    const before = threadNiceness(Deno.pid);
    await using embedder = useLiteEmbedder();
    await embedder.embed(["a"], { purpose: "query" });
    assert.ok(newThreads(Deno.pid, before, own + 5).length > 0);
    assert.equal(getPriority(), own, "the event loop's stays");
  },
});

/** The number of windows of a text embedded by a process that may do no more than that. */
async function embedInChild({ read = [], sys = [] }: Permissions): Promise<string> {
  const root = new URL("../../../", import.meta.url);
  const script = `
    import { useLiteEmbedder } from "${new URL("plugins/use_lite/mod.ts", root)}";
    await using embedder = useLiteEmbedder();
    const text = ["What do I like?"];
    const answer = embedder.embed(text, { purpose: "query" });
    console.log(await answer.then(([windows]) => windows.length, (error) => error.code));
  `;
  const allowed = Object.entries({ read, sys }).flatMap(([kind, entries]) =>
    entries.length > 0 ? [`--allow-${kind}=${entries.join(",")}`] : []
  );
  const args = ["run", "--no-prompt", ...LOCKED, ...allowed, "-"];
  const child = new Deno.Command(Deno.execPath(), {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  const { stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return text.decode(stdout) || text.decode(stderr);
}

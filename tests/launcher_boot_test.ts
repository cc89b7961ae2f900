import assert from "node:assert/strict";
import { SvcError } from "../src/errors.ts";
import { parseRelayerBoot, parseSidecarBoot, relayerEnvironment } from "../src/launcher/boot.ts";
import { childEnvironment } from "../src/launcher/child_spec.ts";
import { readLeash } from "../src/launcher/leash.ts";
import { readSettings } from "../src/settings.ts";

const KEY = "ab".repeat(32);

function input() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });
  const encoder = new TextEncoder();
  return {
    stream,
    write: (text: string) => controller.enqueue(encoder.encode(text)),
    end: () => controller.close(),
    fail: () => controller.error(new Error("broken pipe")),
  };
}

Deno.test("the leash is one line, in any pieces, and then the end", async () => {
  for (const how of ["end", "fail"] as const) {
    const { stream, write, ...other } = input();
    write('{"a":');
    write('"é"}\nignored');
    const leash = await readLeash(stream);
    assert.equal(leash.line, '{"a":"é"}');
    let ended = false;
    const end = leash.ended.then(() => ended = true);
    write("more");
    await Promise.resolve();
    assert.equal(ended, false);
    other[how]();
    await end;
  }
});

Deno.test("input without a line, or with an endless one, is refused", async () => {
  const empty = input();
  empty.end();
  await assert.rejects(readLeash(empty.stream), SvcError);
  const endless = input();
  for (let i = 0; i < 3; i++) endless.write("x".repeat(1_000_000));
  await assert.rejects(readLeash(endless.stream), SvcError);
});

Deno.test("start lines of another shape are refused without being repeated", () => {
  const good = { env: { SVC_PORT: "1" }, relayerKey: KEY };
  assert.deepEqual(parseRelayerBoot(JSON.stringify(good)), good);
  for (
    const line of [
      "",
      "[]",
      `{"env":{},"relayerKey":"${KEY.slice(1)}"}`,
      `{"env":{"A":1},"relayerKey":"${KEY}"}`,
      `{"relayerKey":"${KEY}"}`,
      `${KEY}`,
    ]
  ) {
    assert.throws(() => parseRelayerBoot(line), (error) => {
      assert.ok(error instanceof SvcError);
      return !error.message.includes("ab") && error.cause === undefined;
    });
  }
  const sidecar = { url: "http://127.0.0.1:1", token: "t".repeat(16) };
  assert.equal(parseSidecarBoot(JSON.stringify(sidecar)).logLevel, "info");
  assert.throws(() => parseSidecarBoot('{"url":"http://127.0.0.1:1","token":"short"}'), SvcError);
});

Deno.test("the relayer gets its settings, absolute paths, and nothing else", () => {
  const env = {
    HOME: "/home/ada",
    SVC_DATA_DIR: "data",
    SVC_VECTOR_STORE: "./store.ts",
    SVC_PORT: "81",
    PLUGIN_TOKEN: "t",
    AWS_SECRET: "no",
    SVC_UNKNOWN: "no",
  };
  const { settings } = readSettings(env, { cwd: "/cwd" });
  const kept = relayerEnvironment(env, settings, ["PLUGIN_TOKEN"]);
  assert.equal(kept["SVC_DATA_DIR"], "/cwd/data");
  assert.equal(kept["SVC_VECTOR_STORE"], "file:///cwd/store.ts");
  assert.equal(kept["PLUGIN_TOKEN"], "t");
  assert.ok(!Object.values(kept).includes("no"));
  const again = readSettings(kept);
  assert.deepEqual(again.problems, []);
  assert.equal(again.settings.dataDir, settings.dataDir);
  assert.equal(again.settings.keyFile, settings.keyFile);
  assert.equal(again.settings.port, 81);
});

Deno.test("a child's environment holds nothing of ours; loopback never goes through a proxy", () => {
  const env = { HOME: "/h", SVC_OPENAI_API_KEY: "k", HTTPS_PROXY: "http://p", NO_PROXY: "corp" };
  assert.deepEqual(childEnvironment(env, { proxies: false }), { HOME: "/h" });
  assert.deepEqual(childEnvironment(env, { proxies: true }), {
    HOME: "/h",
    HTTPS_PROXY: "http://p",
    NO_PROXY: "corp,127.0.0.1,localhost,::1",
  });
});

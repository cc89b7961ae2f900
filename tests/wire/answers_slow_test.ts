import assert from "node:assert/strict";

Deno.test("a fetched answer that does not fit fails the test that reads it", async () => {
  const folder = await Deno.makeTempDir();
  const source = `Deno.test("reads", async () => {
    const headers = { "x-request-id": "r" };
    const answer = () => Response.json({ relayerVersion: 1 }, { headers });
    await using server = Deno.serve({ port: 0, onListen() {} }, answer);
    const response = await fetch("http://127.0.0.1:" + server.addr.port + "/version");
    await response.json().catch(() => {});
  });`;
  const root = new URL("../../", import.meta.url).pathname;
  try {
    await Deno.writeTextFile(`${folder}/reads_test.ts`, source);
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "--allow-net",
        `--config=${root}deno.json`,
        "--no-check",
        "--lock=deno.lock",
        "--frozen",
        `--preload=${root}tests/preload.ts`,
        `${folder}/reads_test.ts`,
      ],
      cwd: root,
      env: { NO_COLOR: "1" },
    }).output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(success, false, said);
    assert.match(said, /The answer 200 of GET \/version does not fit the table/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

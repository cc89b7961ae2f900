import assert from "node:assert/strict";
import { isLater, runUpdate } from "../../src/program/commands/update.ts";
import { VERSION } from "../../src/wire/version.ts";

Deno.test("versions are compared by their numbers", () => {
  assert.ok(isLater("0.10.0", "0.9.9"));
  assert.ok(isLater("1.0.0", "0.99.0"));
  assert.ok(isLater("0.1.1", "0.1.0"));
  assert.ok(!isLater("0.1.0", "0.1.0"));
  assert.ok(!isLater("0.1.0", "0.2.0"));
});

Deno.test("a later version is told, and a registry that does not answer", async () => {
  let answer: Response = Response.json({ version: "99.0.0" });
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const asked: string[] = [];
  const server = Deno.serve(options, (request) => {
    asked.push(new URL(request.url).pathname);
    return answer;
  });
  try {
    const said: string[] = [];
    const io = {
      env: { NPM_CONFIG_REGISTRY: `http://127.0.0.1:${server.addr.port}/` },
      cwd: "/",
      write: (text: string) => said.push(text),
      writeError: (text: string) => said.push(text),
    };
    const last = () => said.splice(0).join("");
    assert.equal(await runUpdate(["--check"], io), 0);
    assert.match(last(), /^Version 99\.0\.0 is there/);
    answer = Response.json({ version: VERSION });
    assert.equal(await runUpdate(["--check"], io), 0);
    assert.match(last(), /the latest/);
    answer = Response.json({ error: "not found" }, { status: 404 });
    assert.equal(await runUpdate(["--check"], io), 1);
    assert.match(last(), /has no package svc/);
    assert.deepEqual(new Set(asked), new Set(["/svc/latest"]));
    assert.equal(await runUpdate([], io), 2);
    const nowhere = { ...io, env: { NPM_CONFIG_REGISTRY: "http://127.0.0.1:1" } };
    assert.equal(await runUpdate(["--check"], nowhere), 1);
  } finally {
    await server.shutdown();
  }
});

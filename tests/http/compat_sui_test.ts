import assert from "node:assert/strict";
import { type Json, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

Deno.test("the package is read as published clients read it", async () => {
  verifies("17.3-5", "17.3-6", "17.3-7", "17.3-8", "17.3-10", "4-2");
  await using svc = await startRelayer();
  const { packageId } = (await svc.plain("GET", "/config")).body;
  const call = async (method: string, params: Json, id: Json = 1) => {
    const body = { jsonrpc: "2.0", id, method, params };
    const answer = await svc.plain("POST", "/compat/sui", body);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.jsonrpc, "2.0");
    assert.equal(answer.body.id, id);
    return answer.body;
  };
  const found = {
    data: {
      objectId: packageId,
      version: "1",
      digest: "11111111111111111111111111111111",
      type: "package",
      owner: "Immutable",
      content: { dataType: "package", disassembled: {} },
    },
  };
  const unknown = `0x${"3".repeat(64)}`;
  const missing = (object_id: string) => ({ error: { code: "notExists", object_id } });
  const options = { showContent: true };
  assert.deepEqual((await call("sui_getObject", [packageId, options])).result, found);
  const upper = `0x${packageId.slice(2).toUpperCase()}`;
  assert.deepEqual((await call("sui_getObject", [upper])).result, found);
  assert.deepEqual((await call("sui_getObject", [unknown], "a")).result, missing(unknown));
  assert.deepEqual((await call("sui_getObject", [])).result, missing(""));
  const both = await call("sui_multiGetObjects", [[packageId, unknown], options]);
  assert.deepEqual(both.result, [found, missing(unknown)]);
  for (const method of ["sui_getChainIdentifier", "rpc.discover", "", "sui_multiGetObjects"]) {
    const { error, result } = await call(method, {});
    assert.equal(error.code, -32601, method);
    assert.equal(result, undefined);
  }
});

Deno.test("whatever JSON is sent, the answer is one", async () => {
  verifies("17.3-8");
  await using svc = await startRelayer();
  for (const body of [[], null, 1, "text", { method: 1 }, { method: "sui_getObject", params: 1 }]) {
    const { status, body: answer } = await svc.plain("POST", "/compat/sui", JSON.stringify(body));
    assert.equal(status, 200);
    assert.equal(answer.jsonrpc, "2.0");
    assert.equal(answer.id, null);
  }
});

Deno.test("gRPC-web paths below it are not found", async () => {
  verifies("17.3-9");
  await using svc = await startRelayer();
  const path = "/compat/sui/sui.rpc.v2.LedgerService/GetObject";
  for (const method of ["POST", "GET"]) {
    assert.equal((await svc.plain(method, path)).status, 404);
  }
});

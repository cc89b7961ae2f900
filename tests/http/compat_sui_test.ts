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

Deno.test("one call reads at most 50 objects, and an address calls 120 times a minute", async () => {
  verifies("17.3-6", "7-27");
  await using svc = await startRelayer();
  const ids = Array.from({ length: 51 }, (_, i) => `0x${String(i).padStart(64, "0")}`);
  const read = (objects: string[], peer = "203.0.113.7") => {
    const body = { jsonrpc: "2.0", id: 1, method: "sui_multiGetObjects", params: [objects] };
    return svc.plain("POST", "/compat/sui", body, { peer });
  };
  assert.equal((await read(ids)).body.error.code, -32602);
  assert.equal((await read(ids.slice(1))).body.result.length, 50);
  const statuses = new Map<number, number>();
  for (let call = 3; call <= 121; call++) {
    const { status } = await read([]);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.deepEqual([...statuses], [[200, 118], [429, 1]]);
  assert.equal((await read([], "203.0.113.8")).status, 200);
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

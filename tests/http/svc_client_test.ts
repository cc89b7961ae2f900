import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { answersAreMadeUp } from "../watched_answers.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

/** Serves a relayer of a later minor version: every object has a member nobody knows. */
function serveLater(svc: TestRelayer): Deno.HttpServer<Deno.NetAddr> {
  const handler = async (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => {
    const response = await svc.relayer.fetch(request, info);
    const { status, headers } = response;
    const body = JSON.parse(
      await response.text(),
      (_key, value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? { ...value, from_the_future: { a: [1] } }
          : value,
    );
    return Response.json(body, { status, headers: { ...Object.fromEntries(headers) } });
  };
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
}

Deno.test("our client works with a relayer on a real port, and ignores what it does not know", async () => {
  verifies("18-2", "18-1", "10.6-26");
  for (const form of ["nonce", "legacy"] as const) {
    await using svc = await startRelayer();
    await using server = serveLater(svc);
    answersAreMadeUp(`http://127.0.0.1:${server.addr.port}`);
    const client = new SvcClient({
      baseUrl: `http://127.0.0.1:${server.addr.port}`,
      privateKey: svc.key.seed.toHex(),
      form,
    });
    const { job_id } = await client.remember("I like tea ☕", { namespace: "日本" });
    const { results } = await client.recall("tea", { namespace: "日本" });
    assert.deepEqual(results.map(({ text }) => text), ["I like tea ☕"]);
    await svc.relayer.idle();
    assert.equal((await client.job(job_id)).status, "done");
    assert.equal((await client.account()).owner, svc.owner);
    assert.equal((await client.restore("日本")).skipped, 1);
    if (form === "nonce") {
      const { memories } = await client.memories({ namespace: "日本" });
      assert.equal(memories[0]?.memory_id, job_id);
    }
    await client.deleteMemory(job_id);
    await assert.rejects(client.memory(job_id), { code: "memory_not_found" });
  }
});

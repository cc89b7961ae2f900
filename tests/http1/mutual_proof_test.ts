import assert from "node:assert/strict";
import { HttpConnection } from "../../src/http1/http_connection.ts";
import { type HttpListener, listenHttp } from "../../src/http1/http_listener.ts";
import { proving, type Shared } from "../../src/http1/mutual_proof.ts";
import { connectProven } from "../../src/http1/sidecar_connections.ts";
import { verifies } from "../requirements.ts";
import { RawClient } from "./raw_client.ts";

const TOKEN = "token-of-the-test";
const SIDECAR: Shared = { token: TOKEN, listens: "sidecar" };
const RELAYER: Shared = { token: TOKEN, listens: "relayer" };
const urlOf = ({ port }: HttpListener) => `http://127.0.0.1:${port}`;

/** A listener that says who asks. */
function listen(shared: Shared, port = 0): HttpListener {
  return listenHttp({
    hostname: "127.0.0.1",
    port,
    onError() {},
    answer: proving(shared, (_, { isProven }) => Promise.resolve(Response.json({ isProven }))),
  });
}

/** What a connection is answered to a request. */
async function asked(connection: HttpConnection, target = "/"): Promise<string> {
  const { status, body } = await connection.send({ method: "GET", target, headers: [] });
  return `${status} ${new TextDecoder().decode((await body?.next())?.value ?? undefined)}`;
}

/** Sends a body to `/proof` on a connection of its own; answers status and body. */
async function said(client: RawClient, body: string): Promise<readonly [string, string]> {
  await client.send(
    `POST /proof HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  let answer = await client.until("\r\n\r\n");
  const length = Number(/content-length: (\d+)/.exec(answer)?.[1]);
  while (answer.slice(answer.indexOf("\r\n\r\n") + 4).length < length) {
    answer += await client.read() ?? "";
  }
  const [head = "", text = ""] = answer.split("\r\n\r\n");
  return [head.split(" ")[1] ?? "", text];
}

Deno.test("both ends prove themselves, and only the connection they did it on is proven", async () => {
  verifies("15-17");
  await using listener = listen(SIDECAR);
  const proven = await connectProven(urlOf(listener), SIDECAR);
  const other = await HttpConnection.open(urlOf(listener));
  assert.equal(await asked(other), '200 {"isProven":false}');
  assert.equal(await asked(proven), '200 {"isProven":true}');
  assert.equal(await asked(other), '200 {"isProven":false}');
  assert.equal(await asked(proven, "/proof"), '200 {"isProven":true}');
  proven.close();
  other.close();
});

Deno.test("who knows another secret, or listens for the other end, proves nothing", async () => {
  await using listener = listen(SIDECAR);
  for (const shared of [{ ...SIDECAR, token: "another-token-of-it" }, RELAYER]) {
    await assert.rejects(connectProven(urlOf(listener), shared), /is not the/);
  }
});

Deno.test("a thief on either port records no secret, and nothing that opens anything", async () => {
  for (const shared of [SIDECAR, RELAYER]) {
    const other = shared === SIDECAR ? RELAYER : SIDECAR;
    await using real = listen(shared);
    await using opposite = listen(other);
    const recorded: string[] = [];
    for (const passOnTo of [undefined, real, opposite]) {
      await using thief = listenHttp({
        hostname: "127.0.0.1",
        port: 0,
        onError() {},
        answer: async (request) => {
          const body = await request.text();
          recorded.push(`${request.method} ${body} ${JSON.stringify([...request.headers])}`);
          if (passOnTo === undefined) return new Response("0".repeat(128));
          // Has the real one make the proof, for this very nonce.
          using client = await RawClient.open(passOnTo.port);
          const [status, text] = await said(client, body);
          return new Response(text, { status: Number(status) });
        },
      });
      await assert.rejects(connectProven(urlOf(thief), shared), /is not the/);
    }
    assert.equal(recorded.length, 3, "after a wrong proof nothing more is said");
    assert.ok(!recorded.join().includes(TOKEN));
    // What was said on another connection opens none.
    for (const line of recorded) {
      const [, nonce = ""] = line.split(" ");
      for (const target of [real, opposite]) {
        using client = await RawClient.open(target.port);
        const [, answer] = await said(client, nonce);
        for (const guess of [answer.slice(64), answer.slice(0, 64), nonce]) {
          const [status] = await said(client, guess);
          assert.notEqual(`${status} ${guess}`, `200 ${answer.slice(64)}`);
        }
        await client.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
        assert.match(await client.until("}"), /"isProven":false/);
      }
    }
  }
});

Deno.test("a proof counts once, on its connection, and a wrong one ends the try", async () => {
  await using listener = listen(SIDECAR);
  // Records what an honest caller says.
  const bodies: string[] = [];
  const recording = listenHttp({
    hostname: "127.0.0.1",
    port: 0,
    onError() {},
    answer: (() => {
      const answer = proving(SIDECAR, () => Promise.resolve(new Response()));
      return async (request, info) => {
        const body = await request.text();
        bodies.push(body);
        const again = new Request(request.url, {
          method: "POST",
          headers: [...request.headers],
          body,
        });
        return await answer(again, info);
      };
    })(),
  });
  (await connectProven(urlOf(recording), SIDECAR)).close();
  await recording.shutdown(0);
  const [nonce = "", proof = ""] = bodies;
  {
    using client = await RawClient.open(listener.port);
    assert.equal((await said(client, nonce))[0], "200");
    assert.equal((await said(client, proof))[0], "404");
    // The next word is a new nonce, not another guess.
    assert.equal((await said(client, proof))[1].length, 128);
    for (const odd of ["", "0".repeat(63), "g".repeat(64), "0".repeat(65)]) {
      assert.equal((await said(client, odd))[0], "404", odd);
    }
  }
});

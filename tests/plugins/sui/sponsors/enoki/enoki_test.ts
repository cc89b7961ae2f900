import assert from "node:assert/strict";
import enoki from "../../../../../plugins/sui/sponsors/enoki/mod.ts";
import {
  type EnokiOptions,
  enokiSponsor,
} from "../../../../../plugins/sui/sponsors/enoki/sponsor.ts";
import type { Sponsor } from "../../../../../src/interfaces/mod.ts";
import { inspectFields, Secret } from "../../../../../src/interfaces/plugin.ts";
import { conform, sponsorSuite } from "../../../../../testing/mod.ts";
import { kind, SENDER } from "../../../../sponsor/kinds.ts";
import { FakeEnoki } from "./fake_enoki.ts";

const KEY = "enoki_private_0123456789abcdef";
const SIGNATURE = new Uint8Array(97);

function against(server: FakeEnoki, options: Partial<EnokiOptions> = {}): Sponsor {
  return enokiSponsor({
    base: server.base,
    network: "testnet",
    apiKey: new Secret(KEY),
    isExecuted: (digest) => Promise.resolve(server.paid.includes(digest)),
    ...options,
  });
}

conform(sponsorSuite, "enoki", () => {
  const server = new FakeEnoki();
  const sponsor = against(server);
  sponsor[Symbol.asyncDispose] = () => server[Symbol.asyncDispose]();
  return sponsor;
});

Deno.test("two posts, with the key as bearer", async () => {
  await using server = new FakeEnoki();
  await using sponsor = against(server);
  const { digest } = await sponsor.sponsor({ sender: SENDER, kindBytes: kind() });
  assert.deepEqual(await sponsor.execute({ digest, signature: SIGNATURE }), { digest });
  const authorization = `Bearer ${KEY}`;
  assert.deepEqual(server.asked, [{
    path: "/v1/transaction-blocks/sponsor",
    authorization,
    body: {
      network: "testnet",
      transactionBlockKindBytes: kind().toBase64(),
      sender: SENDER,
    },
  }, {
    path: `/v1/transaction-blocks/sponsor/${digest}`,
    authorization,
    body: { signature: SIGNATURE.toBase64() },
  }]);
});

Deno.test("refusals become codes; nothing of their bodies is passed on", async () => {
  await using server = new FakeEnoki();
  await using sponsor = against(server);
  const { digest } = await sponsor.sponsor({ sender: SENDER, kindBytes: kind() });
  const cases: [number, string][] = [
    [429, "sponsor_overloaded"],
    [401, "sponsor_upstream_error"],
    [403, "sponsor_upstream_error"],
    [500, "sponsor_upstream_error"],
    [502, "sponsor_upstream_error"],
    [503, "sponsor_upstream_error"],
    [400, "sponsor_rejected"],
    [404, "sponsor_rejected"],
    [422, "sponsor_rejected"],
  ];
  for (const [status, code] of cases) {
    server.instead = () =>
      Response.json({ errors: [{ message: "s3cret detail" }] }, {
        status,
        headers: { "retry-after": "17" },
      });
    const check = (error: unknown) => {
      assert.ok(error instanceof Error && "code" in error && "retryAfter" in error);
      assert.equal(error.code, code, String(status));
      if (status === 429) assert.equal(error.retryAfter, 17);
      assert.ok(!/s3cret|127\.0\.0\.1|enoki_private/.test(error.message + Deno.inspect(error)));
      return true;
    };
    await assert.rejects(sponsor.sponsor({ sender: SENDER, kindBytes: kind() }), check);
    await assert.rejects(sponsor.execute({ digest, signature: SIGNATURE }), check);
  }
});

Deno.test("answers that cannot be read are the sponsor's failure", async () => {
  await using server = new FakeEnoki();
  await using sponsor = against(server);
  const { digest } = await sponsor.sponsor({ sender: SENDER, kindBytes: kind() });
  const answers = [
    () => new Response("no json"),
    () => new Response("[]"),
    () => new Response("null"),
    () => Response.json({ data: null }),
    () => Response.json({ data: { bytes: "!", digest } }),
    () => Response.json({ data: { bytes: 1, digest: 2 } }),
    () => Response.json({ data: { bytes: "AAAA", digest: "../x" } }),
    () => new Response(`"${"a".repeat(300_000)}"`),
    () => Response.redirect(server.base, 307),
  ];
  for (const instead of answers) {
    server.instead = instead;
    await assert.rejects(sponsor.sponsor({ sender: SENDER, kindBytes: kind() }), {
      code: "sponsor_upstream_error",
    });
    await assert.rejects(
      sponsor.execute({ digest: digest.replace(/.$/, "1"), signature: SIGNATURE }),
      { code: "sponsor_upstream_error" },
    );
  }
});

Deno.test("an endless or silent answer ends by the deadline", async () => {
  await using server = new FakeEnoki();
  await using sponsor = against(server, { timeoutMs: 50 });
  const waiting = Promise.withResolvers<Response>();
  server.instead = () => waiting.promise;
  await assert.rejects(sponsor.sponsor({ sender: SENDER, kindBytes: kind() }), {
    code: "sponsor_upstream_error",
  });
  waiting.resolve(new Response("late"));
});

Deno.test("nobody there is no connection", async () => {
  const server = new FakeEnoki();
  await using sponsor = against(server);
  await server[Symbol.asyncDispose]();
  await assert.rejects(sponsor.sponsor({ sender: SENDER, kindBytes: kind() }), (error) => {
    assert.ok(error instanceof Error && "code" in error);
    assert.equal(error.code, "sponsor_upstream_error");
    return !Deno.inspect(error).includes("127.0.0.1");
  });
});

Deno.test("an execution whose answer was lost is known by the chain", async () => {
  await using server = new FakeEnoki();
  await using sponsor = against(server);
  const { digest } = await sponsor.sponsor({ sender: SENDER, kindBytes: kind() });
  server.lost = new Response("gateway", { status: 504 });
  await assert.rejects(sponsor.execute({ digest, signature: SIGNATURE }), {
    code: "sponsor_upstream_error",
  });
  assert.deepEqual(await sponsor.execute({ digest, signature: SIGNATURE }), { digest });
  assert.deepEqual(server.paid, [digest]);
  // What the chain does not know, or does not tell, stays refused.
  await using unknown = against(server, { isExecuted: () => Promise.reject(new Error("down")) });
  await assert.rejects(unknown.execute({ digest, signature: SIGNATURE }), {
    code: "sponsor_rejected",
  });
});

Deno.test("the plugin asks for its key, its hosts and a public network", async () => {
  const values = (env: Record<string, string>) => inspectFields(enoki.fields, env).values;
  const set = values({ SVC_ENOKI_API_KEY: KEY, SVC_SUI_NETWORK: "mainnet" });
  assert.deepEqual(enoki.permissions?.("sponsor", set, ""), {
    net: ["api.enoki.mystenlabs.com:443", "fullnode.mainnet.sui.io:443"],
  });
  assert.throws(
    () => enoki.permissions?.("sponsor", values({}), ""),
    /SVC_ENOKI_API_KEY is needed/,
  );
  const context = {} as Parameters<NonNullable<typeof enoki.roles.sponsor>>[1];
  await using _sponsor = await enoki.roles.sponsor?.(set, context);
  assert.throws(
    () => enoki.roles.sponsor?.(values({ SVC_ENOKI_API_KEY: KEY }), context),
    /SVC_SUI_NETWORK/,
  );
});

Deno.test("a call whose connection breaks is made once", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let asked = 0;
  const serving = (async () => {
    for await (const connection of listener) {
      void (async () => {
        using open = connection;
        const buffer = new Uint8Array(64 * 1024);
        for (let text = "";;) {
          const count = await open.read(buffer).catch(() => null);
          if (count === null) return;
          text += new TextDecoder().decode(buffer.subarray(0, count));
          if (!text.endsWith("}")) continue;
          text = "";
          // The first answer keeps the connection for the second call, which breaks it.
          if (++asked > 1) return;
          const answer = "HTTP/1.1 429 x\r\ncontent-length: 0\r\n\r\n";
          await open.write(new TextEncoder().encode(answer));
        }
      })();
    }
  })();
  const { port } = listener.addr;
  await using sponsor = enokiSponsor({
    base: `http://127.0.0.1:${port}`,
    network: "testnet",
    apiKey: new Secret(KEY),
    isExecuted: () => Promise.resolve(false),
  });
  const ask = () => sponsor.sponsor({ sender: SENDER, kindBytes: kind() });
  await assert.rejects(ask(), { code: "sponsor_overloaded" });
  await assert.rejects(ask(), { code: "sponsor_upstream_error" });
  assert.equal(asked, 2);
  listener.close();
  await serving.catch(() => {});
});

import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { transactionDigest } from "../../src/sponsor/answered_transaction.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "../http/case.ts";
import { signature, sponsoring } from "./sponsoring.ts";
import { call, kind, SENDER } from "./kinds.ts";

Deno.test("a transaction is sponsored, signed by its sender, executed", async () => {
  await using requests = await sponsoring();
  const { status, body } = await requests.ask();
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ["bytes", "digest"]);
  const bytes = Uint8Array.fromBase64(body.bytes);
  assert.equal(body.digest, transactionDigest(bytes));
  assert.ok(bytes.toHex().startsWith(`00${kind().toHex()}${SENDER.slice(2)}`));
  const executed = await requests.execute(body.digest);
  assert.deepEqual([executed.status, executed.body], [200, { digest: body.digest }]);
  assert.deepEqual(requests.sponsor.paid, [body.digest]);
});

Deno.test("the sender is taken in either case, and unknown members are ignored", async () => {
  await using requests = await sponsoring();
  const { status, body } = await requests.ask({
    sender: `0x${SENDER.slice(2).toUpperCase()}`,
    x: 1,
  });
  assert.equal(status, 200);
  assert.equal((await requests.execute(body.digest, { sender: null })).status, 200);
});

Deno.test("fields have the forms of the table", async () => {
  verifies("9.1-3", "5-23");
  await using requests = await sponsoring();
  const { body: { digest } } = await requests.ask();
  const bytesOf = (length: number) => new Uint8Array(length).fill(1).toBase64();
  const asked: [Record<string, unknown>, [number, string], string][] = [
    [{ sender: SENDER.slice(2) }, [400, "invalid_sender"], "sender"],
    [{ sender: `${SENDER}0` }, [400, "invalid_sender"], "sender"],
    [{ sender: "0x2" }, [400, "invalid_sender"], "sender"],
    [{ sender: 1 }, [422, "invalid_request"], "sender"],
    [{ sender: null }, [422, "invalid_request"], "sender"],
    [{ transactionBlockKindBytes: null }, [422, "invalid_request"], "transactionBlockKindBytes"],
  ];
  for (
    const text of [
      "",
      "!",
      bytesOf(9),
      bytesOf(7001),
      kind().toBase64().replace(/=*$/, "x"),
      ` ${kind().toBase64()}`,
      kind().toHex(),
      // Bits behind the last byte.
      "AAAAAAAAAAAAAAAAAAB=",
    ]
  ) {
    const member = "transactionBlockKindBytes";
    asked.push([{ [member]: text }, [400, "invalid_transaction"], member]);
  }
  for (const [body, answer, field] of asked) {
    assertError(await requests.ask(body), answer, { field }, JSON.stringify(body));
  }
  const executed: [Record<string, unknown>, [number, string], string][] = [
    [{ digest: "1".repeat(42) }, [400, "invalid_digest"], "digest"],
    [{ digest: "1".repeat(45) }, [400, "invalid_digest"], "digest"],
    [{ digest: digest.replace(/.$/, "0") }, [400, "invalid_digest"], "digest"],
    [{ digest: 5 }, [422, "invalid_request"], "digest"],
    [{ signature: bytesOf(64) }, [400, "invalid_sponsor_signature"], "signature"],
    [{ signature: bytesOf(2049) }, [400, "invalid_sponsor_signature"], "signature"],
    [{ signature: "~" }, [400, "invalid_sponsor_signature"], "signature"],
    [{ signature: null }, [422, "invalid_request"], "signature"],
  ];
  for (const [body, answer, field] of executed) {
    assertError(await requests.execute(digest, body), answer, { field }, JSON.stringify(body));
  }
  assert.equal(requests.sponsor.calls.execute, 0);
  // The edges are taken.
  assertError(await requests.ask({ transactionBlockKindBytes: bytesOf(10) }), [
    403,
    "move_call_not_allowed",
  ], { field: "transactionBlockKindBytes" });
  assertError(await requests.ask({ transactionBlockKindBytes: bytesOf(7000) }), [
    403,
    "move_call_not_allowed",
  ], { field: "transactionBlockKindBytes" });
  for (const length of [65, 2048]) {
    const { body } = await requests.ask();
    const sent = await requests.execute(body.digest, { signature: signature(0, length) });
    assert.equal(sent.status, 200);
  }
});

Deno.test("bodies are JSON of at most 10 and 4 KiB", async () => {
  verifies("3-30");
  await using requests = await sponsoring();
  const routes: [string, number][] = [["/sponsor", 10_240], ["/sponsor/execute", 4096]];
  for (const [path, limit] of routes) {
    const text = (length: number) => `{"x":"${"a".repeat(length - 8)}"}`;
    assertError(await requests.svc.plain("POST", path, text(limit)), [422, "invalid_request"], {
      field: path === "/sponsor" ? "sender" : "digest",
    });
    assertError(await requests.svc.plain("POST", path, text(limit + 1)), [413, "body_too_large"]);
    assertError(await requests.svc.plain("POST", path, "{"), [400, "malformed_json"]);
    const plain = { headers: { "content-type": "text/plain" } };
    assertError(await requests.svc.plain("POST", path, "{}", plain), [
      415,
      "unsupported_media_type",
    ]);
  }
});

Deno.test("what is not on the allow-list reaches no sponsor", async () => {
  verifies("9.1-4");
  await using requests = await sponsoring();
  const other = kind([call(), {
    SplitCoins: { coin: { GasCoin: true }, amounts: [{ Input: 1 }] },
  }]);
  assertError(await requests.ask({ transactionBlockKindBytes: other.toBase64() }), [
    403,
    "move_call_not_allowed",
  ], { field: "transactionBlockKindBytes" });
  assert.equal(requests.sponsor.calls.sponsor, 0);
});

Deno.test("an answer that is another transaction is nobody's to sign", async () => {
  await using requests = await sponsoring();
  const changes: ((bytes: Uint8Array, digest: string) => { bytes: Uint8Array; digest: string })[] =
    [
      (bytes) => ({ bytes, digest: transactionDigest(bytes.subarray(1)) }),
      (bytes, digest) => ({ bytes: bytes.subarray(0, 60), digest }),
      (_, digest) => ({ bytes: new Uint8Array(), digest }),
      (bytes) => {
        const other = bytes.slice();
        other[kind().length + 5]! ^= 1; // The sender.
        return { bytes: other, digest: transactionDigest(other) };
      },
      (bytes) => {
        const other = bytes.slice();
        // Version, kind, sender, a coin (1 + 32 + 8 + 33), then whoever pays.
        const at = 1 + kind().length + 32;
        other.set(other.subarray(at - 32, at), at + 74);
        return { bytes: other, digest: transactionDigest(other) };
      },
      (bytes) => {
        const other = bytes.slice();
        other[40]! ^= 1; // The kind.
        return { bytes: other, digest: transactionDigest(other) };
      },
    ];
  for (const change of changes) {
    requests.sponsor.change = change;
    assertError(await requests.ask(), [502, "sponsor_upstream_error"]);
  }
});

Deno.test("a transaction that may cost more than the cap is refused", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 5_000_000 } });
  requests.sponsor.budget = 5_000_000;
  assert.equal((await requests.ask()).status, 200);
  requests.sponsor.budget = 5_000_001;
  assertError(await requests.ask(), [400, "sponsor_rejected"]);
});

Deno.test("upstream failures keep their codes, and their causes for the log", async () => {
  verifies("9.1-7");
  await using requests = await sponsoring();
  const secret = "enoki said: key private_abc";
  const failures: [Error, [number, string]][] = [
    [new SvcError("sponsor_overloaded", undefined, { cause: new Error(secret) }), [
      503,
      "sponsor_overloaded",
    ]],
    [new SvcError("sponsor_upstream_error", undefined, { cause: new Error(secret) }), [
      502,
      "sponsor_upstream_error",
    ]],
    [new SvcError("sponsor_rejected"), [400, "sponsor_rejected"]],
    [new DOMException("late", "TimeoutError"), [502, "sponsor_upstream_error"]],
    [new Error(secret), [500, "internal_error"]],
  ];
  const { body: { digest } } = await requests.ask();
  for (const [error, answer] of failures) {
    requests.sponsor.fail = { call: "sponsor", error };
    const refused = await requests.ask();
    assertError(refused, answer);
    assert.ok(!refused.text.includes("enoki"));
    requests.sponsor.fail = { call: "execute", error };
    assertError(await requests.execute(digest), answer);
  }
  requests.sponsor.fail = undefined;
  assert.equal((await requests.execute(digest)).status, 200);
});

Deno.test("config and health tell of the sponsor", async () => {
  await using requests = await sponsoring();
  const config = await requests.svc.plain("GET", "/config");
  assert.equal(config.body.sponsorEnabled, true);
  const health = await requests.svc.plain("GET", "/health");
  assert.deepEqual(health.body.dependencies.sponsor, { status: "ok" });
});

import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { turns } from "../within.ts";
import { connectProven } from "../../src/http/oauth/proven_connection.ts";
import { readPublic } from "../../src/http/oauth/public_https.ts";
import { ClientDocuments, documentUrl } from "../../src/http/oauth/client_documents.ts";
import { OAuthError } from "../../src/http/oauth/oauth_error.ts";
import type { PublicNetwork } from "../../src/interfaces/public_network.ts";
import { isPublicAddress } from "../../src/wire/ip_addresses.ts";
import {
  answering,
  CLIENT,
  documentOf,
  leadingTo,
  PUBLIC,
  RawServer,
  write,
} from "./document_server.ts";
import { pkce, REDIRECT, startOAuth } from "./fixture.ts";

/** Of a client that asks. */
const NETWORK = "192.0.2.1";

const read = (network: PublicNetwork, url: URL, ms?: number) => readPublic(network, url, ms).answer;

Deno.test("addresses that are not public lead nowhere, in whatever form", async () => {
  verifies("11.1-11");
  await using server = answering(documentOf());
  const refused = [
    ...["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"],
    ...["169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1"],
    ...["203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:a9fe:a9fe", "::7f00:1"],
    ...["::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001::1"],
    ...["fe80::1", "fec0::1", "fc00::1", "fd00::1", "ff02::1", "2001:db8::1", "100::1"],
    ...["127.1", "0x7f000001", "2130706433", "017700000001", "localhost", ""],
  ];
  for (const address of refused) {
    assert.equal(isPublicAddress(address), false, address);
    // Also where another one of the name is public.
    for (const addresses of [[address], [PUBLIC, address], [address, PUBLIC]]) {
      const network = leadingTo(server, addresses);
      await assert.rejects(read(network, new URL(CLIENT)), /private network/, address);
      assert.deepEqual(network.connected, []);
    }
  }
  await assert.rejects(read(leadingTo(server, []), new URL(CLIENT)), /leads nowhere/);
  for (const address of ["1.1.1.1", PUBLIC, "2606:4700::1111", "2a00:1450:4001:81b::200e"]) {
    assert.equal(isPublicAddress(address), true, address);
  }
  assert.deepEqual(server.heads, []);
});

Deno.test("the address that was looked at is the one that is connected to", async () => {
  verifies("11.1-11");
  await using server = answering(documentOf());
  const network = leadingTo(server);
  let times = 0;
  const rebinding: PublicNetwork = {
    ...network,
    resolve: () => Promise.resolve(times++ === 0 ? [PUBLIC] : ["127.0.0.1"]),
  };
  await read(rebinding, new URL(CLIENT));
  assert.equal(times, 1);
  assert.deepEqual(network.connected, [PUBLIC]);
  assert.match(server.heads[0]!, /^GET \/client\.json HTTP\/1\.1\r\nhost: app\.example\r\n/);
});

Deno.test("a redirect is followed by nobody", async () => {
  verifies("11.1-12");
  for (const status of ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"]) {
    await using inside = answering(documentOf());
    await using server = answering("", `location: http://127.0.0.1:${inside.port}/\r\n`, status);
    const network = leadingTo(server);
    await assert.rejects(read(network, new URL(CLIENT)), /it answered 30\d/);
    assert.deepEqual(inside.heads, []);
    assert.equal(network.connected.length, 1);
  }
});

Deno.test("what is large or slow is given up", async () => {
  verifies("11.1-12");
  const large = "x".repeat(10_000_000);
  await using whole = answering(large);
  await assert.rejects(read(leadingTo(whole), new URL(CLIENT)), /larger than 64 KiB/);
  const chunks = async (conn: Deno.Conn) => {
    await write(conn, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    for (;;) await write(conn, `10000\r\n${"y".repeat(65_536)}\r\n`);
  };
  await using endless = new RawServer(chunks);
  await assert.rejects(read(leadingTo(endless), new URL(CLIENT)), /larger than 64 KiB/);
  const kib64 = "z".repeat(65_536);
  await using most = answering(kib64);
  assert.equal((await read(leadingTo(most), new URL(CLIENT))).bytes.length, 65_536);
  await using oneMore = answering(`${kib64}z`);
  await assert.rejects(read(leadingTo(oneMore), new URL(CLIENT)), /larger than 64 KiB/);

  const never = Promise.withResolvers<void>();
  await using silent = new RawServer(() => never.promise);
  await assert.rejects(read(leadingTo(silent), new URL(CLIENT), 100), /took too long/);
  const unresolved = { ...leadingTo(silent), resolve: () => new Promise<string[]>(() => {}) };
  await assert.rejects(read(unresolved, new URL(CLIENT), 50), /took too long/);
  await using dripping = new RawServer(async (conn) => {
    await write(conn, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{");
    await never.promise;
  });
  await assert.rejects(read(leadingTo(dripping), new URL(CLIENT), 100), /took too long/);
  never.resolve();
});

Deno.test("the other end proves its name, and no other", async () => {
  verifies("11.1-11");
  const folder = new URL("../testdata/tls/", import.meta.url);
  const cert = await Deno.readTextFile(new URL("first.cert.pem", folder));
  const key = await Deno.readTextFile(new URL("first.key.pem", folder));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} },
    () => new Response(documentOf(), { headers: { "content-type": "application/json" } }),
  );
  const network = (name: string, caCerts: string[]): PublicNetwork => ({
    resolve: () => Promise.resolve([PUBLIC]),
    isPublic: isPublicAddress,
    connect: (_address, _name, signal) =>
      connectProven("127.0.0.1", name, signal, server.addr.port, caCerts),
  });
  const answer = await read(network("localhost", [cert]), new URL(CLIENT));
  assert.equal(answer.type, "application/json");
  for (const wrong of [network("app.example", [cert]), network("localhost", [])]) {
    await assert.rejects(read(wrong, new URL(CLIENT)), /cannot be reached/);
  }
  await server.shutdown();
});

Deno.test("no more documents are read at a time than connections are closed", async () => {
  verifies("11.1-12");
  const never = Promise.withResolvers<void>();
  await using silent = new RawServer(() => never.promise);
  const held = Promise.withResolvers<Deno.Conn>();
  const network: PublicNetwork = { ...leadingTo(silent), connect: () => held.promise };
  const documents = new ClientDocuments(Date.now, network, { ms: 10 });
  const all = Array.from({ length: 8 }, (_, at) => new URL(`https://app.example/${at}`));
  for (const [at, url] of all.entries()) {
    await assert.rejects(documents.read(url, `network ${at >> 1}`), /cannot be used/);
  }
  const next = new URL("https://app.example/next");
  await assert.rejects(documents.read(next, "another"), { code: "overloaded" });
  held.reject(new Error("gone"));
  await turns();
  await assert.rejects(documents.read(next, "another"), /cannot be used/);
  never.resolve();
});

Deno.test("one network has two documents read at a time", async () => {
  verifies("11.1-12");
  const never = Promise.withResolvers<void>();
  await using silent = new RawServer(() => never.promise);
  const documents = new ClientDocuments(Date.now, leadingTo(silent), { ms: 100 });
  const address = (name: string) => new URL(`https://app.example/${name}`);
  const first = ["a", "b", "a"].map((name) =>
    assert.rejects(documents.read(address(name), NETWORK), /cannot be used/)
  );
  await assert.rejects(documents.read(address("c"), NETWORK), { code: "overloaded" });
  await assert.rejects(documents.read(address("c"), "another"), /cannot be used/);
  await Promise.all(first);
  await turns();
  await assert.rejects(documents.read(address("d"), NETWORK), /cannot be used/);
  never.resolve();
});

Deno.test("only an address with a path names a document", () => {
  verifies("11.1-10");
  for (
    const wrong of [
      ...["http://app.example/c", "https://app.example", "https://app.example/"],
      ...["https://app.example:8443/c", "https://app.example/c?a=1", "https://app.example/c#a"],
      ...["https://u:p@app.example/c", "https://127.0.0.1/c", "https://[::1]/c", "https://1/c"],
      ...["https://localhost/c", "https://app.example/../c", "https://APP.example/c"],
      ...["https://app.example/a/./c", `https://app.example/${"a".repeat(600)}`, "svcapp.x", ""],
      ...["https://2130706433/c", "https://0x7f.1/c", "https://app.example/c#"],
    ]
  ) assert.equal(documentUrl(wrong), undefined, wrong);
  assert.equal(documentUrl(CLIENT)?.href, CLIENT);
});

/** A document that is refused: to strangers with one text, to the log with the reason. */
async function refusedFor(
  server: RawServer,
  expected: RegExp,
  addresses?: readonly string[],
): Promise<void> {
  const reasons: [host: string, reason: string][] = [];
  const onRefused = (host: string, reason: string) => void reasons.push([host, reason]);
  const network = leadingTo(server, addresses);
  const documents = new ClientDocuments(Date.now, network, { onRefused });
  await assert.rejects(documents.read(new URL(CLIENT), NETWORK), (error) => {
    assert.ok(error instanceof OAuthError);
    assert.equal(error.code, "invalid_client");
    assert.equal(error.message, "The client's document cannot be used");
    return true;
  });
  assert.equal(reasons.length, 1);
  assert.equal(reasons[0]![0], "app.example");
  assert.match(reasons[0]![1], expected);
}

Deno.test("a document must be what its address promises", async () => {
  verifies("11.1-10");
  const cases: readonly (readonly [string, RegExp])[] = [
    ["[]", /client_id is not its address/],
    ["nothing", /no JSON/],
    ["null", /no JSON object/],
    [documentOf({ client_id: "https://app.example/other.json" }), /client_id is not its address/],
    [documentOf({ token_endpoint_auth_method: "private_key_jwt" }), /auth_method is not none/],
    [documentOf({ redirect_uris: [] }), /redirect_uris/],
    [documentOf({ redirect_uris: ["javascript:alert(1)"] }), /redirect_uris/],
    [documentOf({ redirect_uris: undefined }), /redirect_uris/],
  ];
  for (const [body, expected] of cases) {
    await using server = answering(body);
    await refusedFor(server, expected);
  }
  await using page = answering(documentOf(), "content-type: text/html\r\n");
  await refusedFor(page, /no JSON/);
});

Deno.test("strangers are not told what names lead to", async () => {
  verifies("11.1-12");
  await using server = answering("", "", "404 Not Found");
  await refusedFor(server, /it answered 404/);
  await refusedFor(server, /private network/, ["10.0.0.1"]);
  await refusedFor(server, /leads nowhere/, []);
});

Deno.test("a document is read once an hour, or as often as it says", async () => {
  verifies("11.1-12");
  let now = 1_800_000_000_000;
  const counts: [head: string, ms: number, reads: number][] = [
    ["", 3_599_999, 1],
    ["", 3_600_000, 2],
    ["cache-control: max-age=7200\r\n", 7_199_999, 1],
    ["cache-control: max-age=0\r\n", 59_999, 1],
    ["cache-control: max-age=0\r\n", 60_000, 2],
    ["cache-control: max-age=999999999\r\n", 86_400_000, 2],
    ["cache-control: no-store\r\n", 60_000, 2],
  ];
  for (const [head, ms, reads] of counts) {
    await using server = answering(documentOf(), `content-type: application/json\r\n${head}`);
    const documents = new ClientDocuments(() => now, leadingTo(server));
    await Promise.all([
      documents.read(new URL(CLIENT), NETWORK),
      documents.read(new URL(CLIENT), NETWORK),
    ]);
    assert.equal(server.heads.length, 1);
    now += ms;
    await documents.read(new URL(CLIENT), NETWORK);
    assert.equal(server.heads.length, reads, `${head} ${ms}`);
  }
});

Deno.test("an app that names itself by its document is let in without registering", async () => {
  verifies("11.1-10", "11.1-15");
  await using server = answering(documentOf());
  const network = leadingTo(server);
  await using test = await startOAuth({ network, config: { clientMetadata: true } });
  const { body } = await test.get("/.well-known/oauth-authorization-server/oauth");
  assert.equal(body.client_id_metadata_document_supported, true);
  const { verifier, challenge } = await pkce();
  const request = await test.question({ client_id: CLIENT, code_challenge: challenge });
  const asked = await test.consent("", { request });
  assert.deepEqual(asked.body, {
    client_name: "Example",
    client_host: "app.example",
    redirect_uri: REDIRECT,
    scope: ["read", "write", "manage"],
  });
  const code = (await test.approve(request)).searchParams.get("code")!;
  const tokens = await test.redeem(code, verifier, CLIENT);
  assert.equal(tokens.status, 200);
  assert.equal((await test.message(tokens.body.access_token)).status, 200);
  assert.deepEqual(network.asked, ["app.example"]);
  // Of this machine, and not one of the document's.
  const foreign = await test.ask({
    client_id: CLIENT,
    code_challenge: challenge,
    redirect_uri: "https://evil.example/callback",
  });
  assert.equal(foreign.status, 400);
  // Nor does an error lead to where a document says: anybody has one somewhere.
  const redirect_uri = "https://app.example/callback";
  const wrong = await test.ask({ client_id: CLIENT, code_challenge: "", redirect_uri });
  assert.equal(wrong.status, 400);
  assert.equal(wrong.headers.get("location"), null);
});

Deno.test("where documents are not read an app has to register", async () => {
  await using test = await startOAuth();
  const { body } = await test.get("/.well-known/oauth-authorization-server/oauth");
  assert.equal(body.client_id_metadata_document_supported, false);
  const { challenge } = await pkce();
  const { status, headers } = await test.ask({ client_id: CLIENT, code_challenge: challenge });
  assert.equal(status, 400);
  assert.equal(headers.get("location"), null);
});

import assert from "node:assert/strict";
import {
  parseAddress,
  postgresAccounts,
  postgresBlobStore,
  postgresCipher,
  postgresVectorStore,
} from "../../../plugins/postgres/mod.ts";
import { PostgresDatabase } from "../../../plugins/postgres/database.ts";
import type { Statements } from "../../../plugins/postgres/statements.ts";
import { CERTIFICATES } from "../../http1/raw_client.ts";
import { PostgresServer } from "../../postgres_server.ts";
import { poll } from "../../within.ts";
import { KeysForTests, sealerForTests } from "../sealer_for_tests.ts";
import { onServer } from "./on_server.ts";

const A = { owner: "0x" + "a".repeat(64), namespace: "notes" };
const KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

const bytesOf = (text: string) => new TextEncoder().encode(text);

onServer((empty, server) => {
  const blobs = (url: string) => postgresBlobStore({ address: parseAddress(url) });

  Deno.test("many programs may make the schema at once", async () => {
    const url = await empty();
    // Pools of their own, as of several processes.
    const stores = await Promise.all(
      [2, 3, 4, 5, 6].map((connections) =>
        postgresBlobStore({ address: parseAddress(url), connections })
      ),
    );
    const blobId = await stores[0]!.put(bytesOf("a"), { ...A, idempotencyKey: "1" });
    for (const store of stores) {
      assert.deepEqual(await store.get(blobId, A), bytesOf("a"));
      await store[Symbol.asyncDispose]();
    }
  });

  Deno.test("a transaction that stands still is ended by the server, and nothing else is", async () => {
    const database = await PostgresDatabase.open({ address: parseAddress(await empty()) });
    await using _closing = { [Symbol.asyncDispose]: () => database.close() };
    const sql = "select current_setting('idle_in_transaction_session_timeout') as value";
    const read = (statements: Statements) => statements.get<{ readonly value: string }>(sql);
    assert.deepEqual(await database.transaction(read), { value: "15s" });
    assert.deepEqual(await read(database), { value: "0" });
  });

  Deno.test("it tells how many connections are in use, are free, and are waited for", async () => {
    const address = parseAddress(await empty());
    const database = await PostgresDatabase.open({ address, connections: 2 });
    await using _closing = { [Symbol.asyncDispose]: () => database.close() };
    assert.deepEqual(database.connections(), { busy: 0, idle: 1, waiting: 0 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = [1, 2, 3].map(() => database.transaction(() => promise));
    await poll(() => database.connections(), ({ waiting }) => waiting === 1);
    assert.deepEqual(database.connections(), { busy: 2, idle: 0, waiting: 1 });
    resolve();
    await Promise.all(held);
    assert.deepEqual(database.connections(), { busy: 0, idle: 2, waiting: 0 });
  });

  Deno.test("what a later version wrote is refused, and not touched", async () => {
    const url = await empty();
    await (await blobs(url))[Symbol.asyncDispose]();
    await server().run(url, "insert into svc.migration(version) values(99)");
    await assert.rejects(blobs(url), {
      code: "invalid_parameter",
      message: /written by a later version of svc \(schema 99, this one reads up to \d+\)/,
    });
    const versions = await server().run<{ version: number }>(
      url,
      "select version from svc.migration order by version",
    );
    assert.deepEqual(versions.at(-1), { version: 99 });
  });

  Deno.test("roles share one pool, and the last to go closes it", async () => {
    const address = parseAddress(await empty());
    const sealer = sealerForTests();
    const blobStore = await postgresBlobStore({ address });
    const vectorStore = await postgresVectorStore({ address, sealer, dimensions: 4, model: "m" });
    await blobStore[Symbol.asyncDispose]();
    await blobStore[Symbol.asyncDispose]();
    await assert.rejects(blobStore.get("x", A), { code: "storage_unavailable" });
    assert.deepEqual(await vectorStore.scopes(A.owner), []);
    await vectorStore[Symbol.asyncDispose]();
    await assert.rejects(vectorStore.scopes(A.owner), { code: "storage_unavailable" });
  });

  Deno.test("a database that is not there is told without its password", async () => {
    const url = (await empty()).replace("svc@", "svc:a-password@");
    const text = (error: Error) => `${error.message} ${Deno.inspect(error.cause)}`;
    for (
      const [wrong, reason] of [
        [url.replace(/\w+$/, "nowhere"), /no such database/],
        [url.replace("svc:", "nobody:"), /refuses the user or the password/],
        [url.replace(/:\d+\//, ":1/"), /cannot be reached/],
      ] as const
    ) {
      await assert.rejects(blobs(wrong), (error: Error & { code?: unknown }) => {
        assert.equal(error.code, "storage_unavailable");
        assert.match(error.message, reason);
        assert.doesNotMatch(text(error), /a-password/);
        return true;
      });
    }
  });

  Deno.test("keys that another process adds and removes are told within the poll", async () => {
    const url = await empty();
    await using here = await postgresAccounts({
      address: parseAddress(url),
      connections: 2,
      pollMs: 20,
    });
    await using there = await postgresAccounts({ address: parseAddress(url), connections: 3 });
    const { accountId } = await there.admin.create(A.owner);
    // The first look tells what may have happened before it.
    const first = Promise.withResolvers<string | undefined>();
    let told = first;
    using _watch = here.watch((id) => told.resolve(id));
    await first.promise;
    for (
      const change of [
        () => there.admin.addKey(accountId, { publicKey: KEY, label: "x", permissions: ["read"] }),
        () => there.admin.removeKey(accountId, KEY),
      ]
    ) {
      told = Promise.withResolvers();
      await change();
      assert.equal(await told.promise, undefined);
    }
    assert.deepEqual((await here.get(accountId))?.keys, []);
  });

  Deno.test("relayers with one relayer key share data keys and generations", async () => {
    const address = parseAddress(await empty());
    const sealer = sealerForTests();
    const open = (connections: number, keys = new KeysForTests()) =>
      postgresCipher({ address, connections, sealer, keys });
    await using one = await open(2);
    await using two = await open(3);
    const context = { ...A, accountId: "0x" + "c".repeat(64), memoryId: "m" };
    const { accountId, ...scope } = context;
    const plain = bytesOf("a canary that sings");
    const first = await one.seal(plain, context);
    const second = await two.seal(plain, context);
    assert.equal(second.keyId, first.keyId);
    for (const cipher of [two, await open(4)]) {
      const items = [{ memoryId: "m", record: first.record }];
      const [opened] = await cipher.open(items, { ...scope, accountId });
      assert.equal(opened?.status, "fulfilled");
      if (cipher !== two) await cipher[Symbol.asyncDispose]();
    }
    await one.rotate(accountId);
    const third = await two.seal(plain, context);
    assert.notEqual(third.keyId, first.keyId);
    assert.equal((await one.seal(plain, context)).keyId, third.keyId);
    // A new relayer rotates behind the generation that is there, and not into it.
    await using late = await open(5);
    await late.rotate(accountId);
    assert.notEqual((await one.seal(plain, context)).keyId, third.keyId);
  });

  Deno.test("no text, vector, key or word stands in a dump", async () => {
    const url = await empty();
    const address = parseAddress(url);
    const sealer = sealerForTests();
    await using store = await postgresVectorStore({
      address,
      sealer,
      dimensions: 4,
      model: "m",
      segmentSize: 8,
    });
    const vector = Float32Array.of(0.123456, 0.654321, 0.5, 0.25);
    const entry = (n: number) => ({
      ...A,
      id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
      version: 1,
      vectors: [vector],
      payload: bytesOf("a canary that sings"),
      keyId: "private-key-id",
      blobId: "private-blob-id",
      createdAt: 1,
      updatedAt: 2,
      importance: 0.5,
      source: "remember" as const,
      standing: { textDigest: "private-digest" },
      bytes: 10,
    });
    await store.upsert(Array.from({ length: 20 }, (_, n) => entry(n)));
    await store.link(A, [{ id: entry(1).id, version: 1, blobId: "private-link" }]);
    const dump = new TextDecoder().decode(await server().dump(url));
    const hidden = [
      new Uint8Array(vector.buffer),
      ...[
        "canary",
        "private-key-id",
        "private-blob-id",
        "private-digest",
        "private-link",
        "remember",
      ].map(bytesOf),
    ];
    for (const bytes of hidden) {
      assert.ok(!dump.includes(bytes.toHex()), "sealed bytes hold it");
      assert.ok(!dump.includes(new TextDecoder().decode(bytes)), "a column holds it");
    }
    // What stands there in the clear, so that the search above is known to find something.
    assert.ok(dump.includes(bytesOf(A.namespace).toHex()));
  });

  Deno.test("a connection is encrypted where it is asked for, and refused where it cannot be", async () => {
    await using server = await PostgresServer.start({ tls: CERTIFICATES.first });
    const url = await server.database();
    await using store = await blobs(`${url}?sslmode=require`);
    const blobId = await store.put(bytesOf("a"), { ...A, idempotencyKey: "1" });
    assert.deepEqual(await store.get(blobId, A), bytesOf("a"));
    const sql = "select count(*)::int as count from pg_stat_ssl where ssl";
    assert.deepEqual(await server.run(url, sql), [{ count: 1 }]);
    // Nobody that this machine knows has signed it.
    const unproven = { code: "storage_unavailable", message: /cannot be reached/ };
    await assert.rejects(blobs(`${url}?sslmode=verify-full`), unproven);
    await assert.rejects(blobs(`${await empty()}?sslmode=require`), unproven);
  });

  Deno.test("a server that crashed is asked again, and has what was answered", async () => {
    await using server = await PostgresServer.start();
    await using store = await blobs(await server.database());
    const blobId = await store.put(bytesOf("kept"), { ...A, idempotencyKey: "1" });
    await server.restart();
    let read: Uint8Array | undefined;
    for (let tries = 0; read === undefined && tries < 20; tries++) {
      // A connection that broke is noticed by its next user, who is told.
      read = await store.get(blobId, A).catch((error) => {
        assert.equal(error.code, "storage_unavailable");
        assert.equal(error.retryable, true);
        return undefined;
      });
    }
    assert.deepEqual(read, bytesOf("kept"));
    assert.equal(await store.put(bytesOf("kept"), { ...A, idempotencyKey: "1" }), blobId);
  });
});

import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/client.ts";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { Installation } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { CREDENTIALS, refusal, S3Server } from "../plugins/s3/s3_server.ts";
import { poll } from "../within.ts";

Deno.test("the program keeps records in a bucket, also one that fails while it is killed", async () => {
  await using server = new S3Server({ versions: false });
  const port = freePort();
  await using installation = await Installation.create({
    SVC_BLOB_STORE: "s3",
    SVC_S3_ENDPOINT: server.endpoint,
    SVC_S3_BUCKET: "memories",
    SVC_S3_PREFIX: "team/one-",
    SVC_S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    SVC_S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    SVC_EMBEDDER: "memory",
    SVC_PORT: String(port),
  });
  const svc = async (...args: string[]) => {
    const { code, output, errors } = await installation.run(args);
    assert.equal(code, 0, `${args[0]}: ${errors}`);
    return output;
  };
  const blobs = () => server.names.filter((name) => name.includes("/b/"));
  const stored = (count: number) => poll(blobs, (names) => names.length === count);
  {
    await using program = await installation.launch();
    await svc("account", "create", "--save");
    await svc("remember", "I am allergic to peanuts");
    await stored(1);
    // The answer to a put that was done never arrives.
    server.lost = ({ method }) => method === "PUT" ? refusal(500, "InternalError") : undefined;
    await svc("remember", "The spare key is under the flower pot");
    await stored(2);
    server.lost = undefined;
    server.fault = () => refusal(503, "SlowDown");
    await svc("remember", "The meeting is on Monday");
    await program.crash();
  }
  server.fault = undefined;
  {
    await using program = await installation.launch();
    await stored(3);
    assert.equal(await program.stop(), 0);
  }
  for (const word of ["allergic", "peanuts", "flower", "Monday", "default"]) {
    assert.ok(!server.everything.includes(word), `${word} stands in the bucket`);
  }
  assert.ok(server.names.every((name) => name.startsWith("team/one-")));
  // The index can be made again from the bucket alone.
  for (const file of ["index.db", "index.db-wal", "index.db-shm"]) {
    await Deno.remove(`${installation.dataDir}/${file}`).catch(() => {});
  }
  await using program = await installation.launch();
  const { credentials } = await readCredentials(`${installation.home}/.svc/credentials.json`);
  const { delegatePrivateKey: privateKey = "", accountId = "" } = credentials ?? {};
  const client = new SvcClient({ baseUrl: `http://127.0.0.1:${port}`, privateKey, accountId });
  const { total, restored, failed } = await client.restore("default");
  assert.deepEqual({ total, failed }, { total: 3, failed: 0 });
  // The last one's job may have been cut off before it ended: then it is there already.
  assert.ok(restored >= 2);
  assert.equal(JSON.parse(await svc("list", "--json")).memories.length, 3);
  assert.match(await svc("recall", "spare key", "--limit", "1"), /spare key/);
  await svc("forget", "default", "--yes");
  await stored(0);
  assert.equal(await program.stop(), 0);
  const permissions = (await installation.run(["--print-permissions"])).output;
  assert.match(permissions, new RegExp(`--allow-net=[^\\n]*${new URL(server.endpoint).host}`));
  const config = (await installation.run(["--print-config"])).output;
  assert.doesNotMatch(config, /AKIATEST|secret\/of/);
});

Deno.test("a program that the bucket refuses does not start, and says which setting", async () => {
  await using server = new S3Server();
  await using installation = await Installation.create({
    SVC_BLOB_STORE: "s3",
    SVC_S3_ENDPOINT: server.endpoint,
    SVC_S3_BUCKET: "memories",
    SVC_S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    SVC_S3_SECRET_ACCESS_KEY: "another",
    SVC_EMBEDDER: "memory",
    SVC_PORT: String(freePort()),
  });
  const { code, output, errors } = await installation.run(["start"]);
  assert.notEqual(code, 0);
  assert.match(output + errors, /check the secret access key/);
});

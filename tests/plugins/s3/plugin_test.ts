import assert from "node:assert/strict";
import { Names, timeOf } from "../../../plugins/s3/names.ts";
import plugin from "../../../plugins/s3/plugin.ts";
import { errorCode, keepsVersions, listedPage } from "../../../plugins/s3/answers.ts";
import { readFields } from "../../../src/interfaces/plugin.ts";
import { TimeOrderedIds } from "../../../src/jobs/job_ids.ts";

const SCOPE = { owner: `0x${"a".repeat(64)}`, namespace: "notes" };
const ENV = {
  SVC_S3_ENDPOINT: "https://s3.example:9000/storage",
  SVC_S3_BUCKET: "memories",
  SVC_S3_ACCESS_KEY_ID: "AKIA",
  SVC_S3_SECRET_ACCESS_KEY: "secret",
};
const permissions = (env: Readonly<Record<string, string>>) =>
  plugin.permissions!("blobStore", readFields(plugin.fields, env), "/data");

Deno.test("the relayer may reach the bucket's host and no other", () => {
  assert.deepEqual(permissions(ENV), { net: ["s3.example:9000"] });
  assert.deepEqual(permissions({ ...ENV, SVC_S3_ADDRESSING: "host" }), {
    net: ["memories.s3.example:9000"],
  });
  assert.deepEqual(permissions({ ...ENV, SVC_S3_ENDPOINT: "" }), {
    net: ["s3.us-east-1.amazonaws.com:443"],
  });
});

Deno.test("a bucket without a name or a key is refused, with what is missing", () => {
  assert.throws(() => permissions({ SVC_S3_ACCESS_KEY_ID: "AKIA" }), {
    code: "invalid_parameter",
    message: "SVC_BLOB_STORE=s3 needs SVC_S3_BUCKET and SVC_S3_SECRET_ACCESS_KEY",
  });
});

Deno.test("a prefix holds what an address keeps as it is", () => {
  const prefixOf = (SVC_S3_PREFIX: string) =>
    readFields(plugin.fields, { ...ENV, SVC_S3_PREFIX }).prefix;
  for (const good of ["a", "a/", "a/b-", "team.one/x_", "x".repeat(200)]) {
    assert.equal(prefixOf(good), good);
  }
  for (const bad of ["/a", "a//b", "./a", "a/../b", "a b", "ä", "a?b", "a%2f", "x".repeat(201)]) {
    assert.throws(() => prefixOf(bad), { code: "invalid_parameter" }, bad);
  }
});

Deno.test("names of later ids come first, and name when", () => {
  const names = new Names("svc/");
  const ids = new TimeOrderedIds();
  const now = 1_764_000_000_000;
  const timed = Array.from({ length: 5000 }, () => ids.next(now))
    .map((id) => names.fromKey(id, names.digest(SCOPE, id))!);
  assert.deepEqual(timed.toSorted(), timed.toReversed());
  assert.equal(timeOf(timed[0]!), now);
  assert.equal(timeOf(timed[4096]!), now + 1);
  const noted = Array.from(
    { length: 5000 },
    (_, n) => names.next(names.digest(SCOPE, `${n}`), now),
  );
  assert.deepEqual(noted.toSorted(), noted.toReversed());
  // A clock that goes back makes none earlier.
  assert.ok(names.next(names.digest(SCOPE, "x"), now - 1000) < noted.at(-1)!);
  assert.ok([...timed, ...noted].every((id) => /^[\w-]{1,128}$/.test(id)));
});

Deno.test("no two scopes or keys have one name", () => {
  const names = new Names("");
  const texts = ["", "a", "ab", "b", "a\u0000b", "\ud800", "\ud801", "\ufffd", "é", "e\u0301"];
  const folders = texts.flatMap((owner) =>
    texts.map((namespace) => names.folder({ owner, namespace }))
  );
  assert.equal(new Set(folders).size, folders.length);
  const digests = texts.flatMap((namespace) =>
    texts.map((key) => names.digest({ owner: "", namespace }, key))
  );
  assert.equal(new Set([...digests, ...folders]).size, digests.length + folders.length);
});

Deno.test("what is no blob's id is told by its form", () => {
  const names = new Names("svc/");
  const id = names.next(names.digest(SCOPE, "key"), 1000);
  assert.equal(timeOf(id), 1000);
  for (
    const other of [
      "",
      "unknown-blob",
      `${id}x`,
      id.slice(1),
      `../${id}`,
      id.toUpperCase(),
      `${id}\n`,
    ]
  ) assert.equal(timeOf(other), undefined, other);
});

Deno.test("answers are read as they are meant, and refused otherwise", () => {
  const page = (content: string) =>
    `<?xml?><ListBucketResult xmlns="x">${content}</ListBucketResult>`;
  const object = "<Contents><Key>a&amp;b&#x2f;&#99;</Key><Size>7</Size></Contents>";
  assert.deepEqual(listedPage(page(`${object}<IsTruncated>false</IsTruncated>`)), {
    objects: [{ name: "a&b/c", bytes: 7 }],
  });
  const more = "<IsTruncated>true</IsTruncated><NextContinuationToken>1+/=</NextContinuationToken>";
  assert.deepEqual(listedPage(page(more)), { objects: [], next: "1+/=" });
  for (
    const wrong of [
      "",
      "<html></html>",
      page(""),
      page("<IsTruncated>true</IsTruncated>"),
      page("<Contents><Key>a</Key></Contents><IsTruncated>false</IsTruncated>"),
      page("<Contents><Key>a</Key><Size>-1</Size></Contents><IsTruncated>false</IsTruncated>"),
      page(`${object}<IsTruncated>false</IsTruncated>`).slice(0, -3),
    ]
  ) assert.throws(() => listedPage(wrong), RangeError, wrong);
  assert.equal(errorCode("<Error><Code>SlowDown</Code></Error>"), "SlowDown");
  assert.equal(errorCode("<Error><Code>Slow Down\n</Code></Error>"), undefined);
  assert.equal(errorCode("<html><Code>SlowDown</Code></html>"), undefined);
  assert.equal(keepsVersions('<VersioningConfiguration xmlns="x"/>'), false);
  for (const status of ["Enabled", "Suspended"]) {
    const xml = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
    assert.equal(keepsVersions(xml), true);
  }
  assert.equal(keepsVersions(page("")), undefined);
});

import assert from "node:assert/strict";
import {
  credentialsPath,
  deleteCredentials,
  readCredentials,
  writeCredentials,
} from "../../src/client/credentials_file.ts";
import { type Credentials, makeDelegateKey, SvcError } from "../../src/client/mod.ts";
import { verifies } from "../requirements.ts";

const ID = "0x" + "cd".repeat(32);

async function makeCredentials(more: Partial<Credentials> = {}): Promise<Credentials> {
  const pair = await makeDelegateKey();
  return {
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    walletAddress: ID,
    accountId: ID,
    packageId: ID,
    relayerUrl: "http://127.0.0.1:8000",
    createdAt: "2026-01-01T00:00:00.000Z",
    version: 1,
    ...more,
  };
}

/** A directory that is removed at the end. */
async function folder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

const modeOf = async (path: string): Promise<number> => (await Deno.stat(path)).mode! & 0o777;
const listOf = async (path: string): Promise<string[]> =>
  (await Array.fromAsync(Deno.readDir(path))).map(({ name }) => name);

Deno.test("the path comes from the environment given", () => {
  assert.equal(credentialsPath({ SVC_CREDENTIALS_FILE: "/x/y", HOME: "/h" }), "/x/y");
  assert.equal(credentialsPath({ HOME: "/h" }), "/h/.svc/credentials.json");
  assert.equal(credentialsPath({ USERPROFILE: "C:\\u" }), "C:\\u/.svc/credentials.json");
  assert.equal(credentialsPath({}), undefined);
});

Deno.test("a delegate key is derived as the protocol says", async () => {
  const pair = await makeDelegateKey(Uint8Array.from({ length: 32 }, (_, i) => i));
  assert.equal(pair.publicKey, "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
  assert.match(pair.address, /^0x[0-9a-f]{64}$/);
  assert.notEqual((await makeDelegateKey()).privateKey, (await makeDelegateKey()).privateKey);
});

Deno.test("what is written is read again; directory 0700, file 0600, two-space JSON", async () => {
  verifies("14.1-1", "14.1-2", "14.1-3");
  await using home = await folder();
  const path = `${home.path}/.svc/credentials.json`;
  const credentials = await makeCredentials({ label: "Laptop", webUrl: "http://localhost:5173" });
  await writeCredentials(path, credentials);
  assert.deepEqual(await readCredentials(path), { credentials, warnings: [] });
  assert.equal(await modeOf(path), 0o600);
  assert.equal(await modeOf(`${home.path}/.svc`), 0o700);
  assert.equal(await Deno.readTextFile(path), JSON.stringify(credentials, null, 2) + "\n");
  assert.deepEqual(await listOf(`${home.path}/.svc`), ["credentials.json"]);
});

Deno.test("members of others are kept, ours are replaced", async () => {
  verifies("14.1-6");
  await using home = await folder();
  const path = `${home.path}/credentials.json`;
  await writeCredentials(path, await makeCredentials({ label: "old" }));
  const file = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...file, theme: { dark: true } }));
  const next = await makeCredentials();
  await writeCredentials(path, next);
  const written = JSON.parse(await Deno.readTextFile(path));
  assert.deepEqual(written, { ...next, theme: { dark: true } });
  assert.deepEqual((await readCredentials(path)).credentials, next);
});

Deno.test("an empty label is none, and no reason to sign in again", async () => {
  verifies("14.1-3");
  await using home = await folder();
  const path = `${home.path}/credentials.json`;
  const credentials = await makeCredentials();
  await Deno.writeTextFile(path, JSON.stringify({ ...credentials, label: "" }), { mode: 0o600 });
  assert.deepEqual(await readCredentials(path), { credentials, warnings: [] });
});

Deno.test("wider permissions are tightened with a warning", async () => {
  verifies("14.1-5");
  await using home = await folder();
  const path = `${home.path}/.svc/credentials.json`;
  await writeCredentials(path, await makeCredentials());
  await Deno.chmod(path, 0o644);
  await Deno.chmod(`${home.path}/.svc`, 0o755);
  const { credentials, warnings } = await readCredentials(path);
  assert(credentials);
  assert.equal(warnings.length, 2);
  assert.equal(await modeOf(path), 0o600);
  assert.equal(await modeOf(`${home.path}/.svc`), 0o700);
  assert.deepEqual((await readCredentials(path)).warnings, []);
});

Deno.test("a directory of another name keeps its permissions; a world-writable one is refused", async () => {
  await using home = await folder();
  await Deno.chmod(home.path, 0o755);
  const path = `${home.path}/credentials.json`;
  await writeCredentials(path, await makeCredentials());
  assert.deepEqual((await readCredentials(path)).warnings, []);
  assert.equal(await modeOf(home.path), 0o755);
  await Deno.chmod(home.path, 0o777);
  await assert.rejects(writeCredentials(path, await makeCredentials()), /writable by every user/);
});

Deno.test("a directory that is a symbolic link is refused", async () => {
  await using home = await folder();
  await Deno.mkdir(`${home.path}/real`, { mode: 0o700 });
  await Deno.symlink(`${home.path}/real`, `${home.path}/.svc`);
  const path = `${home.path}/.svc/credentials.json`;
  const credentials = await makeCredentials();
  await assert.rejects(writeCredentials(path, credentials), (error) => {
    assert(error instanceof SvcError);
    assert.equal(error.code, "storage_unavailable");
    assert.match(error.message, /is a symbolic link/);
    return true;
  });
  assert.deepEqual(await listOf(`${home.path}/real`), []);
  await Deno.writeTextFile(path, JSON.stringify(credentials), { mode: 0o600 });
  assert.match((await readCredentials(path)).reason ?? "", /symbolic link/);
});

Deno.test("a file that is a symbolic link is replaced, its target left alone", async () => {
  await using home = await folder();
  const path = `${home.path}/credentials.json`;
  await Deno.writeTextFile(`${home.path}/target`, "precious");
  await Deno.symlink(`${home.path}/target`, path);
  const credentials = await makeCredentials();
  await writeCredentials(path, credentials);
  assert.equal(await Deno.readTextFile(`${home.path}/target`), "precious");
  assert((await Deno.lstat(path)).isFile);
  assert.deepEqual((await readCredentials(path)).credentials, credentials);
});

Deno.test("missing, malformed and wrong files mean no credentials, and are left alone", async () => {
  verifies("14.1-4");
  await using home = await folder();
  const path = `${home.path}/credentials.json`;
  assert.deepEqual(await readCredentials(path), { reason: "there is none", warnings: [] });
  const good = await makeCredentials();
  const other = await makeCredentials();
  const without = (key: string): object =>
    Object.fromEntries(Object.entries(good).filter(([name]) => name !== key));
  const cases: [unknown, RegExp][] = [
    ["{", /not JSON/],
    ["", /not JSON/],
    [`{"delegatePrivateKey": "${good.delegatePrivateKey}" oops`, /not JSON/],
    [[good], /not a JSON object/],
    [null, /not a JSON object/],
    ...Object.keys(good).map((key): [unknown, RegExp] => [without(key), new RegExp(key)]),
    [{ ...good, delegatePrivateKey: "0x" + good.delegatePrivateKey }, /delegatePrivateKey/],
    [{ ...good, delegatePrivateKey: other.delegatePrivateKey }, /PublicKeyHex does not belong/],
    [{ ...good, delegateAddress: other.delegateAddress }, /delegateAddress does not belong/],
    [{ ...good, accountId: 7 }, /accountId/],
    [{ ...good, version: 2 }, /version/],
    [{ ...good, relayerUrl: "file:///etc" }, /relayerUrl/],
    [{ ...good, label: 7 }, /label/],
    [{ ...good, webUrl: "javascript:alert(1)" }, /webUrl/],
    [{ ...good, createdAt: "yesterday" }, /createdAt/],
    ["x".repeat(70_000), /not a file of this program/],
  ];
  for (const [file, expected] of cases) {
    const text = typeof file === "string" ? file : JSON.stringify(file);
    await Deno.writeTextFile(path, text);
    const { credentials, reason } = await readCredentials(path);
    assert.equal(credentials, undefined, text);
    assert.match(reason ?? "", expected);
    assert(!reason?.includes(good.delegatePrivateKey));
    assert.equal(await Deno.readTextFile(path), text);
  }
  await Deno.remove(path);
  await Deno.mkdir(path);
  assert.match((await readCredentials(path)).reason ?? "", /not a file of this program/);
});

Deno.test("hex of either case is read as lower case", async () => {
  await using home = await folder();
  const path = `${home.path}/credentials.json`;
  const good = await makeCredentials();
  const upper = { ...good, delegatePrivateKey: good.delegatePrivateKey.toUpperCase() };
  await Deno.writeTextFile(path, JSON.stringify(upper), { mode: 0o600 });
  assert.deepEqual((await readCredentials(path)).credentials, good);
});

Deno.test("credentials that break a rule are not written", async () => {
  await using home = await folder();
  const path = `${home.path}/.svc/credentials.json`;
  const wrong = await makeCredentials({ accountId: "0x12" });
  await assert.rejects(writeCredentials(path, wrong), { code: "invalid_parameter" });
  assert.deepEqual(await listOf(home.path), []);
});

Deno.test("concurrent writers leave one whole file and nothing else", async () => {
  verifies("14.1-2");
  await using home = await folder();
  const path = `${home.path}/.svc/credentials.json`;
  const all = await Promise.all(Array.from({ length: 20 }, () => makeCredentials()));
  const reads: Promise<void>[] = [];
  await Promise.all(all.map(async (credentials) => {
    await writeCredentials(path, credentials);
    reads.push(readCredentials(path).then((read) => assert(read.credentials, read.reason)));
  }));
  await Promise.all(reads);
  const { credentials } = await readCredentials(path);
  const keys = all.map(({ delegatePublicKeyHex }) => delegatePublicKeyHex);
  assert(credentials && keys.includes(credentials.delegatePublicKeyHex));
  assert.deepEqual(await listOf(`${home.path}/.svc`), ["credentials.json"]);
});

Deno.test("deleting answers whether there was a file", async () => {
  await using home = await folder();
  const path = `${home.path}/.svc/credentials.json`;
  await writeCredentials(path, await makeCredentials());
  assert.equal(await deleteCredentials(path), true);
  assert.equal(await deleteCredentials(path), false);
});

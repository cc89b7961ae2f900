import assert from "node:assert/strict";
import { lookAtLists } from "../../src/program/doctor/access_lists.ts";
import { examine, type Line } from "../../src/program/doctor/checks.ts";
import { apart } from "../../src/program/doctor/clock.ts";
import { lookThrough } from "../../src/program/doctor/databases.ts";
import { bySelf, reach } from "../../src/program/doctor/dependencies.ts";
import { enough } from "../../src/program/doctor/descriptors.ts";
import { room } from "../../src/program/doctor/disk.ts";
import type { Finding } from "../../src/program/doctor/finding.ts";
import { denoVersion, TESTED_DENO } from "../../src/program/doctor/permissions.ts";
import { ofFile } from "../../src/program/doctor/secret_files.ts";
import { lookAtCertificate } from "../../src/program/doctor/tls.ts";
import { openDataKey } from "../../src/sealing/data_key.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { VERSION } from "../../src/wire/version.ts";
import { freePort } from "../free_port.ts";
import { CERTIFICATES } from "../http1/raw_client.ts";
import { inHome } from "../program.ts";

const GIB = 1024 ** 3;

/** Findings as short texts, without those that are all right. */
const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ state }) => state !== "ok").map(({ state, found }) => `${state}: ${found}`);

/** Variables of a relayer that needs neither weights nor the usual ports. */
const envOf = (home: string, port = freePort()) => ({
  HOME: home,
  SVC_PORT: String(port),
  SVC_WEB_PORT: "0",
  SIDECAR_URL: "http://127.0.0.1:0",
  SVC_EMBEDDER: "memory",
});

/** What the checks find, by the name of the check. */
async function examined(
  env: Record<string, string>,
  check: string,
  isPublic = false,
): Promise<Line[]> {
  const lines = await examine(env, { cwd: env["HOME"] ?? "", isPublic });
  return lines.filter((line) => line.check === check);
}

/** Made as a first start does: the key, the folder, core.db bound to the key. */
async function started(home: string): Promise<{ key: string; data: string }> {
  const [key, data] = [`${home}/.svc/relayer.key`, `${home}/.svc/relayer`];
  await Deno.mkdir(data, { recursive: true, mode: 0o700 });
  await Deno.chmod(`${home}/.svc`, 0o700);
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  await Deno.writeTextFile(key, bytes.toHex() + "\n", { mode: 0o600 });
  using core = new CoreDb(`${data}/core.db`);
  openDataKey(core, new RelayerKey(bytes));
  core.packageId();
  return { key, data };
}

Deno.test("a machine without anything has no problem", async () => {
  await inHome(async (home) => {
    const lines = await examine(envOf(home), { cwd: home, isPublic: false });
    assert.deepEqual(wrong(lines), []);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
  });
});

Deno.test("settings that a start refuses are problems, odd ones warnings", async () => {
  await inHome(async (home) => {
    const refused = { ...envOf(home), SVC_HOST: "0.0.0.0", SVC_RECAL_LIMIT: "3" };
    const found = wrong(await examined(refused, "settings"));
    assert.match(found.join("\n"), /^problem: SVC_HOST=0\.0\.0\.0 .*SVC_PUBLIC_URL/m);
    assert.match(found.join("\n"), /^problem: SVC_HOST=0\.0\.0\.0 .*without TLS/m);
    assert.match(found.join("\n"), /^warning: SVC_RECAL_LIMIT is unknown/m);
    const plugin = { ...envOf(home), SVC_BLOB_STORE: `${home}/none.ts` };
    assert.match(wrong(await examined(plugin, "settings")).join(), /cannot be loaded/);
  });
});

Deno.test("a file with a secret is its owner's alone, and so is its folder", async () => {
  await inHome(async (home) => {
    const { key } = await started(home);
    const credentials = `${home}/.svc/credentials.json`;
    await Deno.writeTextFile(credentials, "{}", { mode: 0o600 });
    const check = async (env = {}) =>
      wrong(await examined({ ...envOf(home), ...env }, "secret files"));
    assert.deepEqual(await check(), []);
    await Deno.chmod(key, 0o640);
    await Deno.chmod(credentials, 0o604);
    await Deno.chmod(`${home}/.svc`, 0o755);
    const found = (await check()).join("\n");
    assert.match(found, /^problem: relayer key: other users may open .*relayer\.key \(0640\)$/m);
    assert.match(found, /^problem: credentials: .* \(0604\)$/m);
    assert.match(found, /^warning: other users may look into .*\.svc \(0755\)$/m);
    assert.equal(((await Deno.stat(key)).mode ?? 0) & 0o777, 0o640);
    await Deno.chmod(`${home}/.svc`, 0o777);
    assert.match((await check()).join("\n"), /problem: other users may replace files/);
    await Deno.remove(key);
    await Deno.symlink(credentials, key);
    assert.match((await check()).join("\n"), /problem: relayer key: .* is no file/);
    assert.match(
      (await check({ SVC_RELAYER_KEY_PASSPHRASE_FILE: `${home}/none` })).join("\n"),
      /problem: passphrase: .*none does not exist/,
    );
    await Deno.remove(key);
  });
});

Deno.test("on Windows access lists are named, and modes promise nothing", () => {
  const env = { USERPROFILE: "C:\\Users\\ada", USERDOMAIN: "DESK", USERNAME: "ada" };
  const own = "C:\\Users\\ada/.svc";
  const look = (paths: readonly string[], env: Record<string, string>, os = "windows") =>
    lookAtLists(paths.map((path) => ({ path, isFolder: !path.endsWith(".key") })), env, os);
  const found = look([own, own, `${own}/relayer`, "D:\\keys\\relayer.key"], env);
  assert.deepEqual(found, [
    {
      state: "ok",
      found:
        "file modes such as 0600 are not enforced on Windows: C:\\Users\\ada\\.svc is as open " +
        "as your profile, by default to you, the system and administrators",
      advice: "for yourself alone: " +
        'icacls "C:\\Users\\ada\\.svc" /inheritance:r /grant:r "DESK\\ada:(OI)(CI)F"',
    },
    {
      state: "warning",
      found: "file modes such as 0600 are not enforced on Windows: whoever may open the folder " +
        "above may open D:\\keys\\relayer.key",
      advice: 'icacls "D:\\keys\\relayer.key" /inheritance:r /grant:r "DESK\\ada:F"',
    },
  ]);
  assert.match(look(["D:\\x"], {})[0]?.advice ?? "", /"%USERNAME%:\(OI\)\(CI\)F"$/);
  // A name that only begins like the profile's is not in it.
  assert.equal(look(["C:\\users\\ADA2\\.svc"], env)[0]?.state, "warning");
  assert.equal(look(["c:\\users\\ADA\\.svc"], env)[0]?.state, "ok");
  assert.deepEqual(look([own], env, "linux"), []);
  assert.equal(ofFile("key", "k", { mode: 0o666 }, "windows").found, "key: k is there");
  assert.equal(ofFile("key", "k", { mode: 0o666 }, "darwin").state, "problem");
});

Deno.test("the data directory is no link and nobody else's", async () => {
  await inHome(async (home) => {
    const { data } = await started(home);
    const check = async (env = {}) =>
      wrong(await examined({ ...envOf(home), ...env }, "data directory"));
    assert.deepEqual(await check(), []);
    await Deno.chmod(data, 0o750);
    assert.match((await check()).join(), /other users may open .* \(0750\)/);
    await Deno.symlink(data, `${home}/link`);
    assert.match((await check({ SVC_DATA_DIR: `${home}/link` })).join(), /a link or no folder/);
  });
});

Deno.test("a key that is not the data's is a problem, and so is a missing one", async () => {
  await inHome(async (home) => {
    const { key } = await started(home);
    const check = async () => wrong(await examined(envOf(home), "relayer key"));
    assert.deepEqual(await check(), []);
    const right = await Deno.readTextFile(key);
    await Deno.writeTextFile(key, "0".repeat(64));
    assert.match((await check()).join(), /belongs to another key/);
    await Deno.writeTextFile(key, "nothing");
    assert.match((await check()).join(), /must be 64 hex characters/);
    await Deno.writeTextFile(key, right);
    await Deno.chmod(key, 0o644);
    assert.match((await check()).join(), /was not read/);
    await Deno.remove(key);
    assert.match((await check()).join(), /cannot be found/);
    assert.equal(await Deno.stat(key).then(() => true, () => false), false);
  });
});

Deno.test("a passphrase is tried against the data, too", async () => {
  await inHome(async (home) => {
    const { data } = await started(home);
    const path = `${home}/passphrase`;
    await Deno.writeTextFile(path, "correct horse battery staple\n", { mode: 0o600 });
    const env = { ...envOf(home), SVC_RELAYER_KEY_PASSPHRASE_FILE: path };
    assert.match(wrong(await examined(env, "relayer key")).join(), /relayer\.salt cannot be found/);
    await Deno.writeTextFile(`${data}/relayer.salt`, "0".repeat(32) + "\n", { mode: 0o600 });
    assert.match(wrong(await examined(env, "relayer key")).join(), /belongs to another key/);
  });
});

Deno.test("a database is read beside its writer, and a damaged one is told", async () => {
  await inHome(async (home) => {
    const { data } = await started(home);
    const path = `${data}/core.db`;
    const size = (await Deno.stat(path)).size;
    {
      using core = new CoreDb(path);
      core.keyUse.touch("a", 1);
      assert.equal(lookThrough(data, "core.db", size).state, "ok");
      // It goes on writing, and what it wrote is seen.
      core.keyUse.touch("b", 2);
      assert.equal(lookThrough(data, "core.db", size).state, "ok");
    }
    const file = await Deno.open(path, { write: true });
    await file.seek(4096, Deno.SeekMode.Start);
    await file.write(new Uint8Array(8192).fill(7));
    file.close();
    const damaged = lookThrough(data, "core.db", size);
    assert.equal(damaged.state, "problem");
    assert.match(damaged.advice ?? "", /when-a-file-is-damaged/);
    await Deno.writeTextFile(`${data}/blobs.db`, "no database at all, but long enough to be one");
    assert.equal(lookThrough(data, "blobs.db", 45).state, "problem");
  });
});

Deno.test("room, descriptors, clocks and Deno have their limits", async () => {
  assert.deepEqual(
    [2 * GIB, GIB / 2, GIB / 100].map((bytes) => room(bytes, "/data").state),
    ["ok", "warning", "problem"],
  );
  assert.equal(enough(4256, 4000, "a process").state, "ok");
  const few = enough(300, 4000, "a process");
  assert.equal(few.state, "warning");
  assert.match(few.advice ?? "", /ulimit -n 4256.*LimitNOFILE=4256.*SVC_MAX_CONNECTIONS=44/);
  assert.deepEqual(
    [60_000, -61_000, 300_000, 301_000].map((ms) => apart(ms, "its").state),
    ["ok", "warning", "warning", "problem"],
  );
  assert.deepEqual([TESTED_DENO, "2.9.99", "2.10.0"].map((version) => denoVersion(version).state), [
    "ok",
    "ok",
    "warning",
  ]);
  const contributing = await Deno.readTextFile(new URL("../../CONTRIBUTING.md", import.meta.url));
  assert.ok(contributing.includes(`(https://deno.com) ${TESTED_DENO}`));
});

Deno.test("a certificate is looked at: pair, name, dates, chain", () => {
  const { first, second } = CERTIFICATES;
  const now = Date.parse("2027-01-01");
  const check = (cert: string, key: string, host?: string, at = now) =>
    wrong(lookAtCertificate(cert, key, host, at)).join();
  assert.equal(check(first.cert, first.key, "localhost"), "");
  assert.equal(check(first.cert, first.key, "127.0.0.1"), "");
  assert.match(check(first.cert, second.key), /^problem: SVC_TLS_KEY_FILE is not the key/);
  assert.match(check(first.cert, first.key, "memory.example.org"), /^problem: .*not for memory/);
  assert.match(check(first.cert, first.key, "192.0.2.1"), /^problem: .*not for 192/);
  assert.match(
    check(first.cert, first.key, undefined, Date.parse("2126-10-25")),
    /^warning: the certificate ends in 5 days/,
  );
  assert.match(
    check(first.cert, first.key, undefined, Date.parse("2127-01-01")),
    /^problem: the certificate ended/,
  );
  assert.match(
    check(first.cert, first.key, undefined, Date.parse("2020-01-01")),
    /^problem: the certificate begins/,
  );
  assert.match(
    check(first.cert + second.cert, first.key),
    /^problem: certificate 2 .*did not sign/,
  );
  assert.match(check("", first.key), /^problem: .*no certificate/);
  assert.match(check(first.cert, "no key"), /^problem: .*cannot be read/);
  assert.ok(!check(first.cert, "-----BEGIN PRIVATE KEY-----\nsecret").includes("secret"));
});

/** Listens in a relayer's place, and answers paths as told. */
function stranger(
  answers: Readonly<Record<string, unknown>>,
  hostname = "127.0.0.1",
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname, port: 0, onListen() {} }, (request) => {
    const answer = answers[new URL(request.url).pathname];
    return answer === undefined
      ? new Response("who?", { status: 404 })
      : Response.json(answer, { status: Number(Object(answer).status ?? 200) });
  });
}

Deno.test("whoever answers at the relayer's port is told apart", async () => {
  await inHome(async (home) => {
    await started(home);
    const listening = async (answers: Readonly<Record<string, unknown>>) => {
      await using server = stranger(answers);
      return (await examined(envOf(home, server.addr.port), "listener"))[0];
    };
    assert.match((await listening({}))?.found ?? "", /taken by something that is not this relayer/);
    const version = { relayerVersion: VERSION, apiVersion: "1" };
    const other = await listening({ "/version": version, "/config": { packageId: "0x1" } });
    assert.equal(other?.state, "problem");
    assert.match(other?.found ?? "", /other accounts than this data directory/);
    assert.match((await examined(envOf(home), "listener"))[0]?.found ?? "", /is free/);
  });
});

Deno.test("dependencies are as the relayer says, or as they can be reached", async () => {
  const found = bySelf({
    dependencies: {
      queue: { status: "ok" },
      llm: { status: "disabled" },
      embedder: { status: "down", reason: "no_model" },
      blob_store: { status: "degraded" },
    },
  });
  assert.deepEqual(wrong(found), [
    "problem: embedder is down: no_model",
    "warning: blob_store is degraded",
  ]);
  assert.equal(found[0]?.found, "working: queue; not in use: llm");
  await using server = stranger({});
  assert.equal((await reach(`127.0.0.1:${server.addr.port}`)).state, "ok");
  assert.equal((await reach(`127.0.0.1:${freePort()}`)).state, "problem");
});

Deno.test("a public address that makes everybody local is a problem", async () => {
  await inHome(async (home) => {
    const open = {
      "/version": { relayerVersion: VERSION, apiVersion: "1" },
      "/config": { packageId: "0x1" },
      "/metrics": { jobs: 1 },
      "/accounts": { status: 401, code: "owner_proof_invalid" },
    };
    // An address that is reached here, and is not this machine's by its text.
    await using server = stranger(open, "0.0.0.0");
    const env = { ...envOf(home), SVC_PUBLIC_URL: `http://0.0.0.0:${server.addr.port}` };
    const found = wrong(await examined(env, "public address", true)).join("\n");
    assert.match(found, /^problem: .*has no TLS$/m);
    assert.match(found, /^problem: \/metrics is open to everybody$/m);
    assert.match(found, /^problem: \/metrics with forged X-Forwarded-For is open/m);
    assert.match(found, /^problem: registration is open to everybody$/m);
    assert.deepEqual(await examined(env, "public address"), []);
    await started(home);
    assert.match(
      wrong(await examined(env, "public address", true)).join(),
      /is another relayer: its accounts are not those/,
    );
    const none = { ...env, SVC_PUBLIC_URL: "http://0.0.0.0:9" };
    assert.equal((await examined(none, "public address", true))[0]?.state, "problem");
    const unset = await examined(envOf(home), "public address", true);
    assert.match(wrong(unset).join(), /SVC_PUBLIC_URL is not set/);
  });
});

Deno.test("no secret is printed, whatever is wrong", async () => {
  await inHome(async (home) => {
    const { key } = await started(home);
    const secrets = [
      "sk-0123456789abcdef",
      "a token of the sidecar",
      "hunter2",
      (await Deno.readTextFile(key)).trim(),
    ] as const;
    const env = {
      ...envOf(home),
      SVC_LANGUAGE_MODEL: "openai",
      SVC_OPENAI_API_KEY: secrets[0],
      SVC_OPENAI_BASE_URL: `http://user:${secrets[2]}@127.0.0.1:${freePort()}/v1`,
      SIDECAR_AUTH_TOKEN: secrets[1],
      SVC_RELAYER_KEY_PASSPHRASE_FILE: key,
    };
    const text = JSON.stringify(await examine(env, { cwd: home, isPublic: true }));
    for (const secret of secrets) assert.ok(!text.includes(secret), secret);
  });
});

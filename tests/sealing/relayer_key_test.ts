import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import fc from "fast-check";
import { CoreDb } from "../../src/storage/core_db.ts";
import { SvcError } from "../../src/errors.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { type KeySettings, loadRelayerKey } from "../../src/program/key_source.ts";
import { verifies } from "../requirements.ts";

const KEY = new Uint8Array(32).map((_, n) => n);
const HEX = KEY.toHex();
const POSIX = Deno.build.os !== "windows";

const notOpened = { name: "SvcError", code: "storage_unavailable", retryable: false } as const;

Deno.test("sealed bytes open again, one by one and on the thread pool", async () => {
  const sealer = new RelayerKey(KEY).sealer("payload");
  for (const size of [0, 1, 16, 70_000]) {
    const plain = new Uint8Array(size).map((_, n) => n * 7);
    const sealed = sealer.seal(plain, "job 1");
    assert.equal(sealed.length, size + 29);
    assert.deepEqual(sealer.open(sealed, "job 1"), plain);
    assert.deepEqual(await sealer.openLarge(sealed, "job 1"), plain);
    const large = await sealer.sealLarge(plain, "job 1");
    assert.equal(large.length, size + 29);
    assert.deepEqual(sealer.open(large, "job 1"), plain);
  }
});

Deno.test("sealed bytes are version, nonce, AES-256-GCM under an HKDF subkey", () => {
  const sealed = new RelayerKey(KEY).sealer("payload").seal(new Uint8Array([7]), "aad");
  const subkey = new Uint8Array(hkdfSync("sha256", KEY, "svc relayer key v1", "seal payload", 32));
  const decipher = createDecipheriv("aes-256-gcm", subkey, sealed.subarray(1, 13));
  decipher.setAAD(new TextEncoder().encode("aad"));
  decipher.setAuthTag(sealed.subarray(14));
  assert.deepEqual([...decipher.update(sealed.subarray(13, 14)), ...decipher.final()], [7]);
  assert.equal(sealed[0], 1);
});

Deno.test("a change of any byte, of the data, the purpose or the key is noticed", async () => {
  const key = new RelayerKey(KEY);
  const sealer = key.sealer("payload");
  const sealed = sealer.seal(new TextEncoder().encode("peanuts"), "job 1");
  fc.assert(fc.property(
    fc.nat({ max: sealed.length - 1 }),
    fc.integer({ min: 1, max: 255 }),
    (at, change) => {
      const altered = sealed.slice();
      altered[at]! ^= change;
      assert.throws(() => sealer.open(altered, "job 1"), notOpened);
    },
  ));
  assert.throws(() => sealer.open(sealed, "job 2"), notOpened);
  assert.throws(() => key.sealer("step").open(sealed, "job 1"), notOpened);
  assert.throws(() => new RelayerKey(new Uint8Array(32)).sealer("payload").open(sealed, "job 1"));
  for (const length of [0, 1, 28]) {
    assert.throws(() => sealer.open(sealed.subarray(0, length), "job 1"), notOpened);
    await assert.rejects(sealer.openLarge(sealed.subarray(0, length), "job 1"), notOpened);
  }
  await assert.rejects(sealer.openLarge(sealed, "job 2"), notOpened);
});

Deno.test("what is opened on the thread pool may change at once", async () => {
  const key = new RelayerKey(KEY);
  const plain = new Uint8Array(100_000).fill(7);
  const sealed = await key.sealer("payload").sealLarge(plain, "job 1");
  const fresh = key.sealer("payload");
  for (let round = 0; round < 3; round++) {
    const bytes = Buffer.from(sealed);
    const opening = fresh.openLarge(bytes, "job 1");
    bytes.fill(0);
    assert.deepEqual(await opening, plain, `round ${round}`);
  }
});

Deno.test("no two seals are equal", () => {
  const sealer = new RelayerKey(KEY).sealer("payload");
  const seals = Array.from({ length: 100 }, () => sealer.seal(new Uint8Array(), "").toHex());
  assert.equal(new Set(seals).size, 100);
});

Deno.test("an HMAC is HMAC-SHA256 under a subkey of its purpose", () => {
  const key = new RelayerKey(KEY);
  const subkey = new Uint8Array(hkdfSync("sha256", KEY, "svc relayer key v1", "hmac replay", 32));
  const expected = createHmac("sha256", subkey).update("body").digest("hex");
  assert.equal(key.hmac("replay")("body").toHex(), expected);
  assert.equal(key.hmac("replay")(new TextEncoder().encode("body")).toHex(), expected);
  assert.notEqual(key.hmac("idempotency")("body").toHex(), expected);
  const hmac = key.hmac("replay");
  const lengths = [0, 1, 55, 56, 63, 64, 65, 511, 512, 513, 1000, 2];
  const texts = ["é", "€", "\ud800"].flatMap((unit) => lengths.map((n) => unit.repeat(n)));
  // All are kept to the end: one answer must not be overwritten by the next.
  const answers = texts.map((text) => hmac(text));
  answers.forEach((answer, i) => {
    assert.equal(answer.toHex(), createHmac("sha256", subkey).update(texts[i]!).digest("hex"));
  });
});

Deno.test("fingerprints tell keys apart and print nothing of them", () => {
  const key = new RelayerKey(KEY);
  assert.match(key.fingerprint(), /^[0-9a-f]{16}$/);
  assert.equal(key.fingerprint(), new RelayerKey(KEY).fingerprint());
  assert.notEqual(key.fingerprint(), new RelayerKey(new Uint8Array(32)).fingerprint());
  assert.ok(!Deno.inspect(key).includes(HEX) && !JSON.stringify({ key }).includes(HEX));
  assert.throws(() => new RelayerKey(new Uint8Array(31)), RangeError);
});

interface Place {
  folder: string;
  settings(part: Partial<KeySettings>): KeySettings;
}

async function inFolder(test: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const none = { keyCommand: undefined, keyFile: undefined, keyPassphraseFile: undefined };
  try {
    await test({
      folder,
      settings: (part) => ({ dataDir: `${folder}/data`, ...none, ...part }),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const noCommand = () => Promise.reject(new Error("no command is expected"));
const load = (settings: KeySettings) => loadRelayerKey(settings, noCommand);

function refuses(promise: Promise<unknown>, message: RegExp): Promise<void> {
  return assert.rejects(promise, (error) => {
    assert.ok(error instanceof SvcError);
    assert.equal(error.code, "invalid_parameter");
    assert.match(error.message, message);
    return true;
  });
}

Deno.test("the key file is made at first start, 0600 in a 0700 folder, and read again", async () => {
  verifies("15-11");
  await inFolder(async ({ folder, settings }) => {
    const keyFile = `${folder}/keys/relayer.key`;
    const first = await load(settings({ keyFile }));
    const second = await load(settings({ keyFile }));
    assert.equal(first.key.fingerprint(), second.key.fingerprint());
    assert.deepEqual([...first.warnings, ...second.warnings], []);
    assert.match(await Deno.readTextFile(keyFile), /^[0-9a-f]{64}\n$/);
    const entries = await Array.fromAsync(Deno.readDir(`${folder}/keys`));
    assert.deepEqual(entries.map(({ name }) => name), ["relayer.key"]);
    if (!POSIX) return;
    assert.equal((await Deno.stat(keyFile)).mode! & 0o777, 0o600);
    assert.equal((await Deno.stat(`${folder}/keys`)).mode! & 0o777, 0o700);
  });
});

Deno.test("a folder that cannot be made for the key file is named", async () => {
  await inFolder(async ({ folder, settings }) => {
    await Deno.symlink(`${folder}/nowhere`, `${folder}/home`);
    const keyFile = `${folder}/home/.svc/relayer.key`;
    const expected = new RegExp(`^${folder}/home/.svc cannot be used as a folder$`);
    await refuses(load(settings({ keyFile })), expected);
  });
});

Deno.test("two first starts at once agree on the key", async () => {
  await inFolder(async ({ folder, settings }) => {
    const keyFile = `${folder}/relayer.key`;
    const keys = await Promise.all(Array.from({ length: 8 }, () => load(settings({ keyFile }))));
    assert.equal(new Set(keys.map(({ key }) => key.fingerprint())).size, 1);
  });
});

Deno.test({
  name: "wider permissions of the key file are taken away, with a warning",
  ignore: !POSIX,
  async fn() {
    await inFolder(async ({ folder, settings }) => {
      const keyFile = `${folder}/relayer.key`;
      await Deno.writeTextFile(keyFile, HEX);
      await Deno.chmod(keyFile, 0o644);
      const { key, warnings } = await load(settings({ keyFile }));
      assert.equal(key.reveal(), HEX);
      assert.equal(warnings.length, 1);
      assert.equal((await Deno.stat(keyFile)).mode! & 0o777, 0o600);
    });
  },
});

Deno.test("a key file that is a link, broken or in the data directory is refused", async () => {
  await inFolder(async ({ folder, settings }) => {
    const file = `${folder}/real`;
    await Deno.writeTextFile(file, HEX);
    await Deno.symlink(file, `${folder}/link`);
    await Deno.symlink(`${folder}/nowhere`, `${folder}/dangling`);
    await refuses(load(settings({ keyFile: `${folder}/link` })), /symbolic link/);
    await refuses(load(settings({ keyFile: `${folder}/dangling` })), /symbolic link/);

    await Deno.writeTextFile(file, HEX.slice(1));
    await refuses(load(settings({ keyFile: file })), /must be 64 hex characters/);
    await Deno.mkdir(`${folder}/data`);
    await refuses(load(settings({ keyFile: `${folder}/data/k` })), /outside SVC_DATA_DIR/);
    await Deno.symlink(`${folder}/data`, `${folder}/alias`);
    await refuses(load(settings({ keyFile: `${folder}/alias/k` })), /outside SVC_DATA_DIR/);
  });
});

Deno.test("no new key is made for data that is sealed under another", async () => {
  await inFolder(async ({ folder, settings }) => {
    const keyFile = `${folder}/keys/relayer.key`;
    const keyPassphraseFile = `${folder}/passphrase`;
    await Deno.writeTextFile(keyPassphraseFile, "correct horse battery", { mode: 0o600 });
    const dataDir = `${folder}/data`;
    await Deno.mkdir(dataDir);
    {
      using core = new CoreDb(`${dataDir}/core.db`);
      // Accounts may be created before the first start.
      await load(settings({ keyFile }));
      core.bind("aa");
    }
    await Deno.remove(`${folder}/keys`, { recursive: true });
    const lost = { [keyFile]: { keyFile }, [`${dataDir}/relayer.salt`]: { keyPassphraseFile } };
    for (const [path, part] of Object.entries(lost)) {
      await refuses(
        load(settings(part)),
        new RegExp(`^${path} does not exist, but the data in ${dataDir} is sealed .*: put .* back`),
      );
      await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
    }
  });
});

Deno.test("a passphrase gives the same key with the same salt only", async () => {
  verifies("15-12");
  await inFolder(async ({ folder, settings }) => {
    const keyPassphraseFile = `${folder}/passphrase`;
    await Deno.writeTextFile(keyPassphraseFile, "correct horse battery\nsecond line\n", {
      mode: 0o600,
    });
    const first = await load(settings({ keyPassphraseFile }));
    const second = await load(settings({ keyPassphraseFile }));
    assert.equal(first.key.fingerprint(), second.key.fingerprint());
    const salt = `${folder}/data/relayer.salt`;
    assert.match(await Deno.readTextFile(salt), /^[0-9a-f]{32}\n$/);
    await Deno.remove(salt);
    const third = await load(settings({ keyPassphraseFile }));
    assert.notEqual(third.key.fingerprint(), first.key.fingerprint());

    await Deno.writeTextFile(keyPassphraseFile, "short");
    await refuses(load(settings({ keyPassphraseFile })), /at least 12 characters/);
    await refuses(load(settings({ keyPassphraseFile: `${folder}/none` })), /does not exist/);
  });
});

Deno.test("a command's first line is the key", async () => {
  await inFolder(async ({ settings }) => {
    const calls: string[][] = [];
    const answer = (output: string) => (command: string, args: readonly string[]) => {
      calls.push([command, ...args]);
      return Promise.resolve(output);
    };
    const given = settings({ keyCommand: "pass show  svc/key" });
    const { key } = await loadRelayerKey(given, answer(`${HEX}\nnote\n`));
    assert.equal(key.reveal(), HEX);
    assert.deepEqual(calls, [["pass", "show", "svc/key"]]);
    const wrong = loadRelayerKey(given, answer("not-the-key-but-secret"));
    await refuses(wrong, /^The first line of SVC_RELAYER_KEY_COMMAND's output must be 64 hex/);
    await refuses(loadRelayerKey(given, noCommand), /SVC_RELAYER_KEY_COMMAND failed/);
  });
});

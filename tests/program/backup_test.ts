import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { opensWith, unpackArchive, verifyArchive } from "../../src/program/backup/archive.ts";
import { writeArchive } from "../../src/program/backup/archive.ts";
import { backupsIn, freeName, timeOf } from "../../src/program/backup/files.ts";
import { identityOfRelayerKey, identityOfWords } from "../../src/program/backup/keys.ts";
import { recipientOf } from "../../src/program/backup/keys.ts";
import { makeBackup } from "../../src/program/backup/make.ts";
import { runBackup, runRestoreBackup } from "../../src/program/commands/backup.ts";
import { makeBackups } from "../../src/program/launcher/backups.ts";
import { silentLogger } from "../../src/log.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { inHome } from "../program.ts";

const OWN = identityOfRelayerKey(new RelayerKey(new Uint8Array(32).fill(1)));
const OTHER = identityOfWords(new Uint8Array(32).fill(2));

async function archive(home: string): Promise<{ path: string; digest: string }> {
  await Deno.writeFile(`${home}/a`, crypto.getRandomValues(new Uint8Array(50_000)));
  await Deno.writeTextFile(`${home}/b`, "");
  await Deno.writeFile(`${home}/c`, new Uint8Array(300_000).fill(7));
  const files = ["a", "b", "c"].map((name) => ({
    name: `data/in/${name}.db`,
    path: `${home}/${name}`,
  }));
  const path = `${home}/x.age`;
  return { path, digest: await writeArchive(path, files, [await recipientOf(OWN)]) };
}

const damaged = (error: unknown) =>
  error instanceof SvcError && error.code === "storage_unavailable" && !error.retryable;

Deno.test("an archive holds its files, for its recipients alone", async () => {
  await inHome(async (home) => {
    const { path, digest } = await archive(home);
    await verifyArchive(path, [OTHER, OWN], digest);
    assert.equal(await opensWith(path, [OTHER]), false);
    await assert.rejects(() => verifyArchive(path, [OTHER]), { code: "invalid_parameter" });
    await assert.rejects(() => verifyArchive(path, [OWN], "00"), damaged);
    await Deno.mkdir(`${home}/out`);
    await unpackArchive(path, [OWN], `${home}/out`);
    for (const name of ["a", "b", "c"]) {
      const [before, after] = [`${home}/${name}`, `${home}/out/data/in/${name}.db`];
      assert.deepEqual(await Deno.readFile(after), await Deno.readFile(before));
    }
    const bytes = await Deno.readFile(path);
    const at = new TextDecoder("latin1").decode(bytes).search("\x07\x07\x07\x07");
    assert.equal(at, -1, "nothing is in the clear");
  });
});

Deno.test("a changed, cut or foreign archive is refused", async () => {
  await inHome(async (home) => {
    const { path } = await archive(home);
    const bytes = await Deno.readFile(path);
    const cases: Uint8Array[] = [bytes.slice(0, -1), bytes.slice(0, 70_000), new Uint8Array(0)];
    for (const at of [0, 30, 210, 300, 65_800, bytes.length - 1]) {
      const copy = bytes.slice();
      copy[at]! ^= 0x10;
      cases.push(copy);
    }
    for (const [index, content] of cases.entries()) {
      await Deno.writeFile(`${home}/broken`, content);
      await assert.rejects(() => verifyArchive(`${home}/broken`, [OWN]), SvcError, `case ${index}`);
    }
    await assert.rejects(() => verifyArchive(`${home}/none`, [OWN]), { code: "not_found" });
    const out = { name: "../out", path: `${home}/a` };
    await writeArchive(`${home}/evil`, [out], [await recipientOf(OWN)]);
    await Deno.mkdir(`${home}/to`);
    await assert.rejects(() => unpackArchive(`${home}/evil`, [OWN], `${home}/to`), damaged);
    assert.equal(await Deno.stat(`${home}/out`).catch(() => "none"), "none");
  });
});

Deno.test("the newest backups stay", async () => {
  await inHome(async (home) => {
    const dataDir = `${home}/data`;
    await Deno.mkdir(dataDir);
    new CoreDb(`${dataDir}/core.db`)[Symbol.dispose]();
    const folder = `${home}/backups`;
    const plan = { dataDir, keyFile: undefined, folder, identities: [OWN], recipients: [] };
    const made = [await makeBackup(plan), await makeBackup(plan), await makeBackup(plan)];
    await Deno.writeTextFile(`${folder}/mine.age`, "not ours");
    const last = await makeBackup({ ...plan, keep: 2 });
    assert.deepEqual(last.removed, made.slice(0, 2).map(({ path }) => path));
    assert.deepEqual(await backupsIn(folder), [made[2]!.path, last.path]);
    assert.equal(await Deno.readTextFile(`${folder}/mine.age`), "not ours");
    await assert.rejects(() => makeBackup({ ...plan, dataDir: home }), { code: "not_found" });
  });
});

Deno.test("a backup's name tells its time", () => {
  assert.equal(timeOf("/b/svc-backup-20261124T040506Z.age"), Date.UTC(2026, 10, 24, 4, 5, 6));
  const path = freeName("/b", []);
  assert.ok(Math.abs(timeOf(path) - Date.now()) < 60_000);
  assert.notEqual(freeName("/b", [path]), path);
});

Deno.test("a started program makes a backup when one is due", async () => {
  await inHome(async (home) => {
    const settings = { backupHours: 24, backupDir: home };
    const hoursAgo = (hours: number) =>
      new Date(Date.now() - hours * 3_600_000).toISOString().replace(/[-:]|\.\d+/g, "");
    const recent = `${home}/svc-backup-${hoursAgo(23)}.age`;
    await Deno.writeTextFile(recent, "");
    const stop = new AbortController();
    const waits: number[] = [];
    const ran: number[] = [];
    const wait = async (ms: number) => {
      waits.push(Math.round(ms / 60_000));
      if (waits.length === 2) await Deno.remove(recent);
      if (waits.length === 4) stop.abort();
    };
    const run = () => Promise.resolve({ ok: ran.push(waits.length) > 9, said: "the disk is full" });
    const options = { signal: stop.signal, wait };
    await makeBackups(settings, run, silentLogger, options);
    assert.deepEqual(waits, [1, 60, 60, 60]);
    assert.deepEqual(ran, [2, 3], "a failure is tried again after an hour");
    await makeBackups({ ...settings, backupHours: 0 }, run, silentLogger, options);
    assert.equal(ran.length, 2, "without the setting there is none");
  });
});

Deno.test("wrong flags and missing keys are told", async () => {
  await inHome(async (home) => {
    const said: string[] = [];
    const io = {
      env: { HOME: home },
      cwd: home,
      write: (text: string) => said.push(text),
      writeError: (text: string) => said.push(text),
    };
    const last = () => said.splice(0).join("");
    assert.equal(await runBackup(["--keep", "0"], io), 2);
    assert.match(last(), /--keep: a whole number from 1/);
    assert.equal(await runBackup(["--recipient", "ada"], io), 2);
    assert.match(last(), /age1/);
    assert.equal(await runBackup(["later"], io), 2);
    assert.equal(await runBackup([], io), 1);
    assert.match(last(), /Nobody could open it/);
    assert.equal(await runRestoreBackup([], io), 2);
    assert.equal(await runRestoreBackup(["none.age"], io), 1);
    assert.match(last(), /none\.age cannot be read/);
    for (const run of [runBackup, runRestoreBackup]) {
      assert.equal(await run(["--help"], io), 0);
      assert.ok(last().split("\n").every((line) => line.length <= 80));
    }
  });
});

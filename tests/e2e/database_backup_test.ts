import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import type { OwnerKey } from "../cluster/owners.ts";
import { Installation } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { programs } from "../postgres_programs.ts";
import { NO_POSTGRES, PostgresServer, serverUser } from "../postgres_server.ts";
import { poll } from "../within.ts";

/** Runs a program of the server to its end, as the server's user. */
async function finish(program: string, args: readonly string[]): Promise<void> {
  const command = new Deno.Command(`${programs()}/${program}`, {
    args: [...args],
    cwd: "/",
    ...await serverUser(),
  });
  const { success, stderr } = await command.output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/** A relayer on a database, with the key that all of this file have. */
async function relayerOn(url: string, keyFile: string): Promise<Installation> {
  return await Installation.create({
    SVC_STORE: "postgres",
    SVC_DATABASE_URL: url,
    SVC_RELAYER_KEY_FILE: keyFile,
    SVC_EMBEDDER: "memory",
    SVC_PORT: String(freePort()),
  });
}

/** Everything that an owner sees of memories, by id. */
async function seen(client: SvcClient): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const page = await client.memories({ limit: 100, ...(cursor && { cursor }) });
    for (const memory of page.memories) found.set(memory.memory_id, JSON.stringify(memory));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** What an owner has done: memories, one of them corrected, another one deleted. */
async function live(client: SvcClient): Promise<void> {
  const items = Array.from({ length: 300 }, (_, n) => ({ text: `I own the book number ${n}` }));
  for (let at = 0; at < items.length; at += 20) {
    const { job_ids } = await client.rememberBulk(items.slice(at, at + 20));
    await client.waitForAll(job_ids);
  }
  const [first, second] = [...(await seen(client)).keys()];
  await client.updateMemory(first!, { text: "I lent the book to Ann" });
  await client.deleteMemory(second!);
  const isCorrected = async () =>
    (await client.recall("lent the book to Ann", { limit: 1 })).results[0]?.text;
  assert.equal(await isCorrected(), "I lent the book to Ann");
}

/** A relayer on a database that was put back has what it had, and goes on. */
async function goesOn(
  url: string,
  { keyFile, key, had }: {
    readonly keyFile: string;
    readonly key: OwnerKey;
    readonly had: ReadonlyMap<string, string>;
  },
): Promise<void> {
  await using installation = await relayerOn(url, keyFile);
  await using running = await installation.launch();
  const client = new SvcClient({ baseUrl: running.url, ...key });
  assert.deepEqual(await seen(client), had);
  const [hit] = (await client.recall("lent the book to Ann", { limit: 1 })).results;
  assert.equal(hit?.text, "I lent the book to Ann");
  const { job_id: jobId } = await client.remember("I am back");
  await client.waitFor(jobId);
  assert.equal((await client.recall("I am back", { limit: 1 })).results[0]?.text, "I am back");
  assert.equal((await seen(client)).size, had.size + 1);
}

Deno.test({
  name: "a dump, and a point in time, bring back what was there then",
  ignore: NO_POSTGRES !== undefined,
  async fn() {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir();
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const user = await serverUser();
    const archive = `${folder}/archive`;
    await Deno.mkdir(archive);
    for (const path of [folder, archive]) {
      if ("uid" in user) await Deno.chown(path, user.uid, user.gid);
    }
    const keyFile = `${await Deno.makeTempDir({ dir: folder })}/relayer.key`;
    await Deno.writeTextFile(keyFile, "07".repeat(32), { mode: 0o600 });
    const server = stack.use(
      await PostgresServer.start({
        options: ["archive_mode=on", `archive_command=cp %p ${archive}/%f`],
      }),
    );
    const url = await server.database();
    const installation = stack.use(await relayerOn(url, keyFile));
    const running = stack.use(await installation.launch());
    const { output } = await installation.run(["account", "create", "--json"]);
    const { account_id, private_key } = JSON.parse(output);
    const key: OwnerKey = { accountId: account_id, privateKey: private_key };
    const client = new SvcClient({ baseUrl: running.url, ...key });

    const where = ["-h", "127.0.0.1", "-p", String(server.port), "-U", "svc"];
    await finish("pg_basebackup", [...where, "-D", `${folder}/base`, "--checkpoint=fast"]);
    await live(client);
    const had = await seen(client);
    assert.equal(had.size, 299);
    const words = "select count(*)::int as n from svc.words";
    await poll(() => server.run<{ n: number }>(url, words), ([row]) => row!.n > 0);
    const clear = new TextDecoder().decode(await server.dump(url));
    assert.ok(clear.includes("svc.words") && !/book|Ann\b/.test(clear));
    await finish("pg_dump", ["--dbname", url, "-Fc", "-f", `${folder}/dump`]);
    await server.run(url, "select pg_create_restore_point('before')");
    await client.forget("default");
    const ending = "select pg_walfile_name(pg_switch_wal()) as file";
    const [{ file }] = await server.run<{ file: string }>(url, ending) as [{ file: string }];
    assert.equal((await seen(client)).size, 0);
    const archived = "select last_archived_wal as last from pg_stat_archiver";
    await poll(
      () => server.run<{ last: string | null }>(url, archived),
      ([row]) => row!.last !== null && row!.last >= file,
    );
    await running.stop();

    const other = await server.database();
    await finish("pg_restore", ["--dbname", other, `${folder}/dump`]);
    await goesOn(other, { keyFile, key, had });

    const past = stack.use(
      await PostgresServer.start({
        options: [
          `restore_command=cp ${archive}/%f %p`,
          "recovery_target_name=before",
          "recovery_target_action=promote",
        ],
        async from(data) {
          await Deno.writeTextFile(`${folder}/base/recovery.signal`, "");
          await Deno.rename(`${folder}/base`, data);
        },
      }),
    );
    const there = past.url(new URL(url).pathname.slice(1));
    const isOver = "select pg_is_in_recovery() as is_in_recovery";
    await poll(
      () => past.run<{ is_in_recovery: boolean }>(there, isOver),
      ([row]) => row?.is_in_recovery === false,
    );
    await goesOn(there, { keyFile, key, had });
  },
});

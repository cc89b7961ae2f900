import assert from "node:assert/strict";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import { local } from "../../../plugins/local/mod.ts";
import { postgres } from "../../../plugins/postgres/mod.ts";
import { Secret } from "../../../src/interfaces/fields.ts";
import type { BackendSource } from "../../../src/interfaces/plugin.ts";
import { NO_POSTGRES, PostgresServer } from "../../postgres_server.ts";
import { inHome, Program } from "../../program.ts";
import { poll } from "../../within.ts";
import { answersAgain, everything, KEY, relayerIn, write, type Written } from "./everything.ts";

const OWNERS = ["ada", "bob", "eve"];
const PER_OWNER = 333;
const embedder: BackendSource = { embedder: () => memoryEmbedder() };

/** What each owner sees, by owner. */
async function all(
  dataDir: string,
  backends: readonly BackendSource[],
  written: ReadonlyMap<string, Written>,
): Promise<Record<string, string[]>> {
  const seen: Record<string, string[]> = {};
  await using relayer = await relayerIn(dataDir, backends);
  for (const [owner, what] of written) {
    const client = await relayer.account(owner);
    seen[owner] = await everything(client, what);
    await answersAgain(client, what);
  }
  return seen;
}

Deno.test({
  name: "a thousand memories go to PostgreSQL, killed on the way, and back, and are identical",
  ignore: NO_POSTGRES !== undefined,
  fn: () =>
    inHome(async (home) => {
      await using server = await PostgresServer.start();
      const url = await server.database();
      await Deno.mkdir(`${home}/.svc`, { mode: 0o700 });
      const keyFile = `${home}/.svc/relayer.key`;
      await Deno.writeTextFile(keyFile, `${KEY.toHex()}\n`, { mode: 0o600 });
      const [here, there, back] = ["here", "there", "back"].map((name) => `${home}/${name}`);
      const embedded = [local(), embedder];
      const shared = [postgres({ url: new Secret(url), connections: 6 }), embedder];
      const written = new Map<string, Written>();
      {
        await using relayer = await relayerIn(here!, embedded);
        await Promise.all(OWNERS.map(async (owner) => {
          written.set(owner, await write(await relayer.account(owner), PER_OWNER));
        }));
        await relayer.idle();
      }
      const before = await all(here!, embedded, written);
      assert.ok(before["ada"]!.length > PER_OWNER);

      const move = (to: string, dataDir: string, folder: string, store: string) =>
        new Program(["move", "--to", to, "--folder", folder, "--json"], {
          HOME: home,
          SVC_DATA_DIR: dataDir,
          SVC_DATABASE_URL: url,
          SVC_EMBEDDER: "memory",
          ...(store === "" ? {} : { SVC_STORE: store }),
        });
      const moved = async (program: Program) => {
        const code = await program.end();
        assert.equal(code, 0, program.errors.join("\n"));
        return JSON.parse(await program.output);
      };
      const rows = async () =>
        Number((await server.run<{ n: string }>(url, "select count(*) as n from svc.blob"))[0]!.n);

      const first = move("postgres", here!, there!, "");
      await poll(() => rows().catch(() => 0), (count) => count > 400);
      first.kill("SIGKILL");
      await first.end();
      await assert.rejects(relayerIn(here!, embedded), /is being moved to SVC_STORE=postgres/);
      await assert.rejects(relayerIn(`${home}/x`, shared), /A move from .* to here has not ended/);
      const answer = await moved(move("postgres", here!, there!, "postgres"));
      assert.equal(answer.owners, OWNERS.length);
      assert.ok(answer.memories > 990);
      await assert.rejects(relayerIn(here!, embedded), /was moved to SVC_STORE=postgres/);
      assert.deepEqual(await all(there!, shared, written), before);
      const dump = new TextDecoder().decode(await server.dump(url));
      for (const word of ["Note", "corrected", "peanuts", "Zlin"]) {
        const hex = new TextEncoder().encode(word).toHex();
        assert.ok(!dump.includes(word) && !dump.includes(hex), `${word} stands in a dump`);
      }

      await moved(move("local", there!, back!, "postgres"));
      await assert.rejects(relayerIn(there!, shared), /was moved to/);
      assert.deepEqual(await all(back!, embedded, written), before);
    }),
});

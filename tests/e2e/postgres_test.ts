import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { NO_POSTGRES, PostgresServer } from "../postgres_server.ts";
import { poll } from "../within.ts";

const ROLES = {
  SVC_ACCOUNTS: "postgres",
  SVC_BLOB_STORE: "postgres",
  SVC_CIPHER: "postgres",
  SVC_VECTOR_STORE: "postgres",
};

const SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "accounts, records and index": ROLES,
  everything: { SVC_STORE: "postgres" },
};

for (const [what, where] of Object.entries(SETTINGS)) {
  Deno.test({
    name: `the program keeps ${what} in PostgreSQL`,
    ignore: NO_POSTGRES !== undefined,
    async fn() {
      await using server = await PostgresServer.start();
      const url = await server.database();
      await using installation = await Installation.create({
        ...where,
        SVC_DATABASE_URL: url,
        SVC_EMBEDDER: "memory",
        SVC_PORT: String(freePort()),
      });
      const svc = async (...args: string[]) => {
        const { code, output, errors } = await installation.run(args);
        assert.equal(code, 0, `${args[0]}: ${errors}`);
        return output;
      };
      {
        await using program = await installation.launch();
        await svc("account", "create", "--save");
        await svc("remember", "I am allergic to peanuts");
        await svc("remember", "The spare key is under the flower pot");
        assert.match(await svc("recall", "peanuts", "--limit", "1"), /peanuts/);
        await program.crash();
      }
      await using program = await installation.launch();
      assert.match(await svc("recall", "spare key", "--limit", "1"), /spare key/);
      assert.equal(JSON.parse(await svc("list", "--json")).memories.length, 2);
      const dump = new TextDecoder().decode(await server.dump(url));
      for (const word of ["allergic", "peanuts", "flower", "meeting"]) {
        const hex = new TextEncoder().encode(word).toHex();
        assert.ok(!dump.includes(word) && !dump.includes(hex), `${word} stands in a dump`);
      }
      assert.ok(dump.includes("delegate_key"));
      // Nobody notices a server that crashed and came back but whoever asks meanwhile.
      await server.restart();
      const found = async () => (await installation.run(["recall", "allergic to"])).output;
      await poll(found, (output) => output.includes("peanuts"));
      await poll(
        async () => (await installation.run(["remember", "The meeting is on Monday"])).code,
        (code) => code === 0,
      );
      assert.match(await svc("recall", "the meeting", "--limit", "1"), /Monday/);
      // A machine of its own has nothing but the relayer key: everything that is done is there.
      assert.equal(await program.stop(), 0);
      await Deno.rename(installation.dataDir, `${installation.home}/lost`);
      await using another = await installation.launch();
      assert.match(await svc("recall", "spare key", "--limit", "1"), /spare key/);
      assert.equal(JSON.parse(await svc("list", "--json")).memories.length, 3);
      await svc("forget", "default", "--yes");
      assert.match(await svc("recall", "peanuts"), /There are no memories in "default"/);
      assert.equal(await another.stop(), 0);
      const permissions = (await installation.run(["--print-permissions"])).output;
      assert.match(permissions, new RegExp(`--allow-net=[^\\n]*127.0.0.1:${server.port}`));
      if (where["SVC_STORE"] !== undefined) {
        for (const [refused, exit] of [[["backup"], 1], [["key", "rotate"], 2]] as const) {
          const { code, errors } = await installation.run(refused);
          assert.equal(code, exit);
          assert.match(errors, /SVC_STORE=postgres/);
        }
      }
      const config = (await installation.run(["--print-config"])).output;
      assert.doesNotMatch(config, /postgres:\/\//);
    },
  });
}

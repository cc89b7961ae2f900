import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { NO_POSTGRES, PostgresServer } from "../postgres_server.ts";

Deno.test({
  name: "the program keeps accounts, records and index in PostgreSQL",
  ignore: NO_POSTGRES !== undefined,
  async fn() {
    await using server = await PostgresServer.start();
    await using installation = await Installation.create({
      SVC_ACCOUNTS: "postgres",
      SVC_BLOB_STORE: "postgres",
      SVC_VECTOR_STORE: "postgres",
      SVC_DATABASE_URL: await server.database(),
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
    await svc("forget", "default", "--yes");
    assert.match(await svc("recall", "peanuts"), /There are no memories in "default"/);
    assert.equal(await program.stop(), 0);
    const permissions = (await installation.run(["--print-permissions"])).output;
    assert.match(permissions, new RegExp(`--allow-net=[^\\n]*127.0.0.1:${server.port}`));
    const config = (await installation.run(["--print-config"])).output;
    assert.doesNotMatch(config, /postgres:\/\//);
  },
});

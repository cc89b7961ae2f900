import assert from "node:assert/strict";
import { freePort } from "../free_port.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { runCommand } from "./mcp_relayer.ts";

Deno.test("try finds a fact by its meaning, and leaves nothing behind", async () => {
  await inHome(async (home) => {
    const env = {
      ...relayerEnv(home),
      SVC_PORT: String(freePort()),
      SVC_FIRST_ACCOUNT: "true",
      SVC_EMBEDDER: "use-lite",
    };
    await using program = new Program(["start"], env);
    await program.event("listening");
    const said = await runCommand(["try"], env);
    assert.match(said, /^1\. Grandma Ada is allergic to hazelnuts$/m);
    assert.match(said, /svc remember "I am allergic to peanuts"/);
    const answer = JSON.parse(await runCommand(["try", "--json"], env));
    assert.equal(answer.results[0].text, "Grandma Ada is allergic to hazelnuts");
    assert.equal(await runCommand(["namespaces"], env), "No memories yet.\n");
  });
});

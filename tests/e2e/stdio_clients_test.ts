import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { runCommand, startServing } from "./mcp_relayer.ts";
import { packageStart } from "./stdio.ts";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

Deno.test("official clients list, remember and recall through the package", async () => {
  verifies("13-1");
  await inHome(async (home) => {
    const { program, env } = await startServing(home);
    await using _program = program;
    await runCommand(["account", "create", "--save"], env);
    const start = JSON.stringify(packageStart(home));
    const config = ["--config", path("../../deno.json"), "--lock", path("../../deno.lock")];
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--frozen", ...config, path("stdio_clients.ts"), start],
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
  });
});

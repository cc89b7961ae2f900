import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { LOCKED } from "../locked.ts";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { runCommand, startServing } from "./mcp_relayer.ts";
import { VARIANTS } from "./stdio_variants.ts";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

for (const { name, ignore, start } of VARIANTS) {
  Deno.test({
    name: `${name}: official clients list, remember and recall`,
    ignore,
    fn: async () => {
      verifies("13-1");
      await inHome(async (home) => {
        const { program, base, env } = await startServing(home);
        await using _program = program;
        await runCommand(["account", "create", "--save"], env);
        const started = JSON.stringify(await start(home, base));
        const { code, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--quiet", ...LOCKED, path("stdio_clients.ts"), started],
        }).output();
        assert.equal(code, 0, new TextDecoder().decode(stderr));
      });
    },
  });
}

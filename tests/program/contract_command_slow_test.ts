import { match, strictEqual } from "node:assert/strict";

Deno.test("the program compiles with the permissions of its task, and says when the chain is away", async () => {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  const [, ...args] = String(tasks.svc.command).split(" ");
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args, "contract", "publish", "--dry-run"],
    cwd: new URL("../../", import.meta.url),
    // Nothing listens on port 1.
    env: { SVC_SUI_RPC_URL: "http://127.0.0.1:1", SVC_SUI_NETWORK: "localnet", NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  const errors = new TextDecoder().decode(stderr);
  strictEqual(code, 1, errors);
  match(errors, /^The chain cannot be reached \(code: chain_unavailable\)$/m);
});

import assert from "node:assert/strict";
import { Terminal } from "./terminal.ts";

const FURTHER = { account: ["create", "list"] };

async function script(shell: string): Promise<string> {
  await using terminal = await Terminal.open();
  const io = { program: "svc", furtherCommands: FURTHER };
  const { code, out, err } = await terminal.run(["completions", shell], io);
  assert.deepEqual([code, err], [0, ""]);
  return out;
}

/** What a bash offers behind some words. */
async function offered(...words: string[]): Promise<string[]> {
  const list = words.map((word) => `'${word}'`).join(" ");
  const ask = `${await script("bash")}
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await new Deno.Command("bash", { args: ["-c", ask] }).output();
  assert.equal(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).trim().split("\n");
}

Deno.test({
  name: "a bash completes commands, flags and further words",
  ignore: Deno.build.os === "windows",
  async fn() {
    assert.deepEqual(await offered("svc", "reca"), ["recall"]);
    assert.deepEqual((await offered("svc", "re")).sort(), [
      "recall",
      "receipt",
      "remember",
      "restore",
      "review",
    ]);
    assert.deepEqual(await offered("svc", "receipt", "v"), ["verify"]);
    assert.deepEqual(await offered("svc", "import", "--b"), ["--bring-back"]);
    assert.deepEqual(await offered("svc", "account", "c"), ["create"]);
    assert.deepEqual(await offered("svc", "recall", "--lim"), ["--limit"]);
    assert.deepEqual(await offered("svc", "status", "--lim"), [""]);
    assert.deepEqual((await offered("svc", "completions", "")).length, 4);
  },
});

Deno.test("other shells are told the same words", async () => {
  assert.match(await script("fish"), /__fish_seen_subcommand_from recall" -l limit\n/);
  assert.match(await script("fish"), /__fish_seen_subcommand_from account" -a create\n/);
  assert.match(await script("zsh"), /bashcompinit\n_svc\(\)/);
  assert.match(await script("powershell"), /'account' = @\('create', 'list'\)/);
});

Deno.test("an unknown shell is refused with the known ones", async () => {
  await using terminal = await Terminal.open();
  const { code, err } = await terminal.run(["completions", "tcsh"]);
  assert.equal(code, 2);
  assert.match(err, /bash, zsh, fish, powershell/);
});

import assert from "node:assert/strict";
import { runMove } from "../../../src/program/move/command.ts";
import { inHome } from "../../program.ts";

async function said(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  let text = "";
  const write = (more: string) => void (text += more);
  const io = { env: { HOME: home, ...env }, cwd: home, write, writeError: write };
  const code = await runMove(args, io);
  return `${code} ${text}`;
}

Deno.test("svc move says what it lacks, and changes nothing then", async () => {
  await inHome(async (home) => {
    const url = { SVC_DATABASE_URL: "postgres://svc@127.0.0.1:1/svc" };
    const there = ["--to", "postgres", "--folder", "there"];
    assert.match(await said(home, []), /^2 Usage: svc move/);
    assert.match(await said(home, ["--help"]), /^0 Usage: svc move/);
    assert.match(await said(home, ["--folder", "there"]), /^2 Say where to/);
    assert.match(await said(home, ["--to", "postgres"]), /^2 Name an empty folder/);
    assert.match(await said(home, [...there, "more"]), /^2 Unknown argument/);
    assert.match(await said(home, ["--to", "local", "--folder", "x"]), /^2 --to local: SVC_STORE/);
    const same = ["--to", "postgres", "--folder", ".svc/relayer"];
    assert.match(await said(home, same, url), /^2 --folder: that is the present one/);
    assert.match(await said(home, ["--to", "mars", "--folder", "x"], url), /^1 SVC_STORE must be/);
    assert.match(await said(home, there, url), /^1 There is nothing in .*relayer yet/);
    const kept = { ...url, SVC_VECTOR_STORE: "lancedb" };
    assert.match(await said(home, there, kept), /^1 SVC_VECTOR_STORE=lancedb is one relayer/);
    assert.match(await said(home, [...there, "--cancel"], url), /^1 There is nothing in/);
    await assert.rejects(Deno.stat(`${home}/there`), Deno.errors.NotFound);
  });
});

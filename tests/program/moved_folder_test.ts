import assert from "node:assert/strict";
import { local } from "../../plugins/local/mod.ts";
import { memory, memoryState } from "../../plugins/memory/mod.ts";
import { runAccount } from "../../src/program/commands/account.ts";
import { runDoctor } from "../../src/program/commands/doctor.ts";
import { runKey } from "../../src/program/commands/key.ts";
import { createRelayer } from "../../src/relayer.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import type { MoveMark } from "../../src/storage/core_rows.ts";
import { inHome } from "../program.ts";

async function said(run: typeof runAccount, args: readonly string[], home: string) {
  let text = "";
  const write = (more: string) => void (text += more);
  const io = { env: { HOME: home }, cwd: home, write, writeError: write };
  await run(args, io);
  return text;
}

/** Marks the data directory of a home. */
async function marked(home: string, mark: MoveMark): Promise<string> {
  const dataDir = `${home}/.svc/relayer`;
  await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
  using core = new CoreDb(`${dataDir}/core.db`);
  core.rows.mark = mark;
  assert.deepEqual(core.rows.mark, mark);
  assert.ok(core.rows.isEmpty, "a mark is no content");
  return dataDir;
}

const MARKS: readonly (readonly [says: RegExp, mark: MoveMark])[] = [
  [/was moved to elsewhere at 1970/, { id: "1", role: "from", other: "elsewhere", endedAt: 0 }],
  [/is being moved to elsewhere/, { id: "1", role: "from", other: "elsewhere" }],
  [/A move from elsewhere to here has not ended/, { id: "1", role: "to", other: "elsewhere" }],
];

for (const [says, mark] of MARKS) {
  Deno.test(`nobody works in a folder that says: ${says.source}`, async () => {
    await inHome(async (home) => {
      const dataDir = await marked(home, mark);
      assert.match(await said(runAccount, ["list"], home), says);
      await Deno.writeTextFile(`${home}/.svc/relayer.key`, `${"7".repeat(64)}\n`, { mode: 0o600 });
      assert.match(await said(runKey, ["rotate"], home), says);
      assert.match(await said(runDoctor, ["--json"], home), says);
      const options = { dataDir, relayerKey: new Uint8Array(32), backends: [memory(), local()] };
      await assert.rejects(createRelayer(options), { code: "invalid_parameter", message: says });
      const backends = [memory(), { store: () => memoryState().open() }];
      await assert.rejects(createRelayer({ ...options, backends }), { message: says });
    });
  });
}

import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { readOwner } from "../../src/client/owner_file.ts";
import { makeFirstAccount } from "../../src/program/first_account.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import { freePort } from "../free_port.ts";
import { inHome, Program, relayerEnv } from "../program.ts";

Deno.test("the first start makes an account that works at once, and no later one does", async () => {
  await inHome(async (home) => {
    const first = { SVC_PORT: String(freePort()), SVC_FIRST_ACCOUNT: "true" };
    const env = { ...relayerEnv(home), ...first };
    let words = "";
    {
      await using program = new Program(["start"], env);
      await program.event("listening");
      await using remember = new Program(["remember", "I keep canaries"], env);
      assert.match(await remember.output, /^Remembered in default\./);
      await using recall = new Program(["recall", "canaries"], env);
      assert.match(await recall.output, /^1\. I keep canaries/);
      words = (await readOwner(`${home}/.svc/owner.json`))?.words ?? "";
      assert.equal(words.split(" ").length, 12);
      program.kill("SIGTERM");
      await program.end();
      const output = await program.output;
      assert.match(output, /You have an account on this computer now/);
      assert.ok(!(output + program.errors.join("\n")).includes(words));
    }
    await using again = new Program(["start"], env);
    await again.event("listening");
    again.kill("SIGTERM");
    await again.end();
    assert.ok(!(await again.output).includes("account"));
    assert.equal((await readOwner(`${home}/.svc/owner.json`))?.words, words);
  });
});

/** Whether a start with some variables makes an account. */
async function makes(home: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const all = { HOME: home, ...env };
  const { settings } = readSettings(all);
  const said: string[] = [];
  const write = (text: string) => void said.push(text);
  await makeFirstAccount(settings, { env: all, cwd: home, write, writeError: write });
  const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
  assert.equal(said.length > 0, credentials !== undefined);
  return credentials !== undefined;
}

Deno.test("no account is made where somebody else decides about accounts", async () => {
  const none: readonly Readonly<Record<string, string>>[] = [
    { SVC_FIRST_ACCOUNT: "false" },
    { SVC_PUBLIC_URL: "https://memory.example.org" },
    { SVC_HOST: "0.0.0.0" },
    { SVC_PORT: "0" },
    { SVC_ACCOUNTS: "sui" },
  ];
  for (const env of none) {
    await inHome(async (home) => assert.equal(await makes(home, env), false, JSON.stringify(env)));
  }
  await inHome(async (home) => {
    await Deno.mkdir(`${home}/.svc`);
    await Deno.writeTextFile(`${home}/.svc/credentials.json`, "not ours");
    assert.equal(await makes(home, {}), false);
    assert.equal(await Deno.readTextFile(`${home}/.svc/credentials.json`), "not ours");
    await Deno.remove(`${home}/.svc/credentials.json`);
    assert.equal(await makes(home, {}), true);
    await Deno.remove(`${home}/.svc/credentials.json`);
    assert.equal(await makes(home, {}), false, "there is data");
  });
});

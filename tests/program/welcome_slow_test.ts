import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import { welcome } from "../../src/program/welcome.ts";
import { inHome, Program, relayerEnv } from "../program.ts";

const CREATE = "npx -y deno@2.9.6 task -q svc account create --save";

/** The line that creates the account. */
function lineOf(text: string): string {
  const line = text.split("\n").find((one) => one.endsWith(CREATE));
  assert.ok(line !== undefined, text);
  return line.trim();
}

/** The variables a shell gives the command of a line. */
async function variables(line: string): Promise<Record<string, string>> {
  const script = line.replace(CREATE, "env -0");
  const shell = new Deno.Command("sh", { args: ["-c", script], clearEnv: true, env: {} });
  const { code, stdout } = await shell.output();
  assert.equal(code, 0);
  const all = new TextDecoder().decode(stdout).split("\0").map((item) => item.split(/=(.*)/s));
  return Object.fromEntries(all.filter(([name]) => name?.startsWith("SVC_")));
}

function lineFor(env: Record<string, string>, address: string): string {
  const all = { HOME: "/home/ada", ...env };
  return lineOf(welcome(readSettings(all, { cwd: "/cwd" }).settings, all, address));
}

Deno.test("with the defaults the first commands need no settings", () => {
  // The launcher names these to the relayer in any case.
  const env = { SVC_DATA_DIR: "/home/ada/.svc/relayer", SVC_ACCOUNTS: "local" };
  assert.equal(lineFor({}, "http://127.0.0.1:8000"), CREATE);
  assert.equal(lineFor(env, "http://127.0.0.1:8000"), CREATE);
});

Deno.test({
  name: "the first command carries the settings that it reads, as a shell takes them",
  ignore: Deno.build.os === "windows",
  async fn() {
    const id = "0x" + "ab".repeat(32);
    const env = {
      SVC_PUBLIC_URL: "https://svc.example.org",
      SVC_DATA_DIR: "/x/it's $HOME;  here",
      SVC_RELAYER_KEY_FILE: "/x/key",
      SVC_PACKAGE_ID: id,
    };
    const given = { ...env, SVC_PORT: "18100", SVC_OPENAI_API_KEY: "sk-secret" };
    const line = lineFor(given, "http://127.0.0.1:18100");
    assert.ok(!line.includes("sk-secret"));
    assert.deepEqual(await variables(line), env);
    assert.deepEqual(await variables(lineFor({ SVC_DATA_DIR: "data" }, "http://[::1]:81")), {
      SVC_PUBLIC_URL: "http://[::1]:81",
      SVC_DATA_DIR: "/cwd/data",
    });
  },
});

Deno.test("on Windows the first command is one of PowerShell", () => {
  const env = { USERPROFILE: "C:\\Users\\ada", SVC_PUBLIC_URL: "https://svc.example.org" };
  const { settings } = readSettings({ ...env, SVC_DATA_DIR: "/x/it's here" }, { cwd: "/cwd" });
  const line = lineOf(welcome(settings, env, "http://127.0.0.1:8000", undefined, true));
  assert.equal(
    line,
    `$env:SVC_PUBLIC_URL='https://svc.example.org'; $env:SVC_DATA_DIR='/x/it''s here'; ${CREATE}`,
  );
});

Deno.test({
  name: "the first command creates the account where the relayer looks for it",
  ignore: Deno.build.os === "windows",
  async fn() {
    await inHome(async (home) => {
      const env = { ...relayerEnv(home), SVC_DATA_DIR: `${home}/my data`, SIDECAR_AUTOSTART: "0" };
      await using program = new Program(["start"], env);
      const { port } = await program.event("listening");
      program.kill("SIGTERM");
      assert.equal(await program.end(), 0);
      const printed = await variables(lineOf(await program.output));
      await using create = new Program(["account", "create", "--save"], { HOME: home, ...printed });
      assert.equal(await create.end(), 0, create.errors.join("\n"));
      const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
      assert.equal(credentials?.relayerUrl, `http://127.0.0.1:${port}`);
      await assert.rejects(Deno.stat(`${home}/.svc/relayer`), Deno.errors.NotFound);
    });
  },
});

import assert from "node:assert/strict";
import { HOSTS } from "../../cli/install/hosts.ts";
import { verifies } from "../requirements.ts";
import { Terminal, typed } from "./terminal.ts";

/** Where the hosts keep their configuration on this platform, in the home folder. */
const PATHS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(HOSTS).map(([name, host]) => [
    name,
    host.path({ env: { HOME: "", USERPROFILE: "." }, platform: Deno.build.os }) ?? "",
  ]),
);

/** Members that a configuration of the host holds besides. */
const OTHER = { other: { command: "other", args: ["--token", "another secret"] } };

Deno.test("install writes a new configuration for each host", async () => {
  verifies("13.4-4");
  await using terminal = await Terminal.open();
  const { delegatePrivateKey } = await terminal.signIn();
  for (const [name, path] of Object.entries(PATHS)) {
    const said = await terminal.run(["install", name, "--yes", "--ns", "work"]);
    assert.equal(said.code, 0, said.err);
    const text = await terminal.read(path);
    assert(!text.includes(delegatePrivateKey));
    assert.match(text, /--namespace=work/);
    assert.match(text, /svc_mcp\.ts/);
    assert.equal((await Deno.stat(`${terminal.home}/${path}`)).mode! & 0o777, 0o600);
    assert.match(said.out, new RegExp(`Written to .*${path.replaceAll(".", "\\.")}\\.\n`));
    const again = await terminal.run(["install", name, "--yes", "--namespace", "work"]);
    assert.equal(again.code, 0);
    assert.match(again.out, /^Nothing to do: /);
    assert.equal(await terminal.read(path), text);
  }
  const config = JSON.parse(await terminal.read(PATHS["claude-code"]!));
  assert.deepEqual(Object.keys(config), ["mcpServers"]);
  assert.deepEqual(Object.keys(config.mcpServers.svc), ["type", "command", "args"]);
  assert.equal(config.mcpServers.svc.command, Deno.execPath());
  const code = JSON.parse(await terminal.read(PATHS.vscode!));
  assert.deepEqual(Object.keys(code), ["servers"]);
  assert.match(await terminal.read(PATHS.codex!), /^\[mcp_servers\.svc\]\ncommand = "/);
});

Deno.test("install keeps the rest of a file, and a backup of it", async () => {
  verifies("13.4-4");
  await using terminal = await Terminal.open();
  const path = PATHS.vscode!;
  const before = `{
\t// my servers
\t"servers": {
\t\t"other": { "command": "other", "args": ["--token", "another secret"] }, // keep
\t},
\t"inputs": [],
}
`;
  await terminal.write(path, before);
  await Deno.chmod(`${terminal.home}/${path}`, 0o640);
  const said = await terminal.run(["install", "vscode", "--yes"]);
  assert.equal(said.code, 0, said.err);
  const after = await terminal.read(path);
  assert.match(after, /\/\/ my servers/);
  assert.match(after, /\/\/ keep/);
  assert.match(after, /\n\t\t"svc": \{\n\t\t\t"type": "stdio"/);
  assert.equal((await Deno.stat(`${terminal.home}/${path}`)).mode! & 0o777, 0o640);
  const backup = /The old file is (.*)\.\n/.exec(said.out)?.[1] ?? "";
  assert.equal(await Deno.readTextFile(backup), before);
  assert.equal((await Deno.stat(backup)).mode! & 0o777, 0o640);
  assert(!(said.out + said.err).includes("another secret"));
});

Deno.test("changes within one second keep a backup each", async () => {
  await using terminal = await Terminal.open();
  await terminal.write(PATHS.cursor!, "{}\n");
  for (const namespace of ["a", "b", "c"]) {
    const said = await terminal.run(["install", "cursor", "--yes", "--ns", namespace]);
    assert.equal(said.code, 0, said.err);
  }
  assert.equal((await terminal.list(".cursor")).length, 4);
});

Deno.test("the diff shows what changes and no key", async () => {
  await using terminal = await Terminal.open();
  const path = PATHS.cursor!;
  const bearer = "Bearer " + "ab".repeat(32);
  const old = { mcpServers: { ...OTHER, svc: { url: "http://x", headers: { bearer } } } };
  await terminal.write(path, JSON.stringify(old, null, 2));
  const said = await terminal.run(["install", "cursor", "--print"]);
  assert.equal(said.code, 0, said.err);
  assert.match(said.out, /^- .*"url": "http:\/\/x"/m);
  assert.match(said.out, /^\+ .*"command": /m);
  assert(!said.out.includes("ab".repeat(32)) && !said.out.includes("another secret"));
  assert.equal(await terminal.read(path), JSON.stringify(old, null, 2));
  assert.deepEqual(await terminal.list(".cursor"), ["mcp.json"]);
  await terminal.write(path, JSON.stringify({ ...old, more: "x".repeat(300) + "secret" }));
  assert(!(await terminal.run(["install", "cursor", "--print"])).out.includes("secret"));
});

Deno.test("install asks, and writes only after a yes", async () => {
  verifies("13.4-4");
  await using terminal = await Terminal.open();
  const path = PATHS.cursor!;
  for (const answer of ["", "n\n", "\n", "yep\n"]) {
    const said = await terminal.run(["install", "cursor"], { stdin: typed(answer) });
    assert.equal(said.code, 1);
    assert.match(said.err, /Write this\? \[y\/N\] Nothing was written\.\n$/);
    await assert.rejects(terminal.read(path), Deno.errors.NotFound);
  }
  assert.equal((await terminal.run(["install", "cursor"])).code, 1, "nobody to ask");
  const said = await terminal.run(["install", "cursor"], { stdin: typed("Y\n") });
  assert.equal(said.code, 0);
  assert.match(said.err, /\.cursor does not exist yet\. Is Cursor installed\?/);
  assert.match(await terminal.read(path), /svc_mcp/);
});

Deno.test("install says what an environment stands for", async () => {
  await using terminal = await Terminal.open();
  const said = await terminal.run(["install", "cursor", "--print", "--prod"]);
  assert.match(said.err, /--prod stands for --local/);
  assert.match(said.out, /"--prod"/);
});

Deno.test("install answers in JSON", async () => {
  verifies("13.4-5");
  await using terminal = await Terminal.open();
  const args = ["install", "codex", "--json"];
  const shown = JSON.parse((await terminal.run([...args, "--print"])).out);
  assert.deepEqual(Object.keys(shown), ["host", "path", "changed", "written", "command", "args"]);
  assert.deepEqual([shown.changed, shown.written], [true, false]);
  const written = JSON.parse((await terminal.run([...args, "--yes"])).out);
  assert.deepEqual([written.changed, written.written, written.backup], [true, true, undefined]);
  const again = JSON.parse((await terminal.run([...args, "--yes"])).out);
  assert.deepEqual([again.changed, again.written], [false, false]);
});

Deno.test("a broken configuration is left as it is", async () => {
  verifies("13.4-4");
  const cases: [host: string, text: string, message: RegExp][] = [
    ["cursor", '{\n  "mcpServers": {\n', /not valid JSON \(CloseBraceExpected, line 3\)/],
    ["cursor", "[]", /not a JSON object/],
    ["cursor", '{"mcpServers": []}', /"mcpServers" is not what it should be/],
    ["cursor", '{"mcpServers": {}, "mcpServers": {}}', /cannot be changed safely/],
    ["claude-desktop", "{} // comment", /not valid JSON \(InvalidCommentToken, line 1\)/],
    ["claude-code", '{"mcpServers": {},}', /not valid JSON/],
    ["codex", "[mcp_servers\n", /not valid TOML \(line 1\)/],
    ["codex", 'mcp_servers = "x"\n', /"mcp_servers" is not what it should be/],
    ["codex", "[mcp_servers]\nsvc = { url = 'x' }\n", /cannot be changed safely/],
  ];
  for (const [host, text, message] of cases) {
    await using terminal = await Terminal.open();
    const path = PATHS[host]!;
    await terminal.write(path, text);
    const said = await terminal.run(["install", host, "--yes"]);
    assert.deepEqual([said.code, said.out], [1, ""], text);
    assert.match(said.err, /is left as it is: /);
    assert.match(said.err, message);
    assert.equal(await terminal.read(path), text);
    assert.equal((await terminal.list(path.replace(/\/?[^/]*$/, ""))).length, 1);
    const shown = await terminal.run(["install", host, "--print"]);
    assert.equal(shown.code, 0);
    assert.match(shown.out, /svc_mcp/);
  }
});

Deno.test("a symbolic link stays a link to the changed file", async () => {
  await using terminal = await Terminal.open();
  await terminal.write("dotfiles/mcp.json", "{}\n");
  await Deno.mkdir(`${terminal.home}/.cursor`);
  await Deno.symlink("../dotfiles/mcp.json", `${terminal.home}/.cursor/mcp.json`);
  assert.equal((await terminal.run(["install", "cursor", "--yes"])).code, 0);
  assert((await Deno.lstat(`${terminal.home}/.cursor/mcp.json`)).isSymlink);
  assert.match(await terminal.read("dotfiles/mcp.json"), /svc_mcp/);

  await Deno.remove(`${terminal.home}/dotfiles`, { recursive: true });
  const said = await terminal.run(["install", "cursor", "--yes"]);
  assert.deepEqual([said.code, said.out], [1, ""]);
  assert.match(said.err, /mcp\.json is a symbolic link to a file that does not exist/);
  assert((await Deno.lstat(`${terminal.home}/.cursor/mcp.json`)).isSymlink);
  assert.match((await terminal.run(["install", "cursor", "--print"])).out, /svc_mcp/);
});

Deno.test("install knows its hosts and takes another credentials file along", async () => {
  await using terminal = await Terminal.open();
  const unknown = await terminal.run(["install", "cursr"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /Unknown host "cursr"\. Did you mean "cursor"\?/);
  assert.match((await terminal.run(["install", "emacs"])).err, /Known hosts: claude-desktop, /);
  assert.equal((await terminal.run(["install"])).code, 2);
  const file = `${terminal.home}/elsewhere/key.json`;
  const env = { SVC_CREDENTIALS_FILE: file };
  assert.equal((await terminal.run(["install", "cursor", "--yes"], { env })).code, 0);
  const { svc } = JSON.parse(await terminal.read(PATHS.cursor!)).mcpServers;
  assert.deepEqual(svc.env, env);
  assert(svc.args.includes(`--allow-write=${terminal.home}/elsewhere`));
  const relative = { SVC_CREDENTIALS_FILE: "elsewhere/key.json" };
  const shown = await terminal.run(["install", "cursor", "--print", "--json"], { env: relative });
  assert(JSON.parse(shown.out).args.includes(`--allow-read=${Deno.cwd()}/elsewhere`));
});

Deno.test("a folder that Deno's permissions cannot name is refused", async () => {
  await using terminal = await Terminal.open();
  const env = { SVC_CREDENTIALS_FILE: `${terminal.home}/work,home/key.json` };
  for (const how of ["--yes", "--print"]) {
    const said = await terminal.run(["install", "cursor", how], { env });
    assert.deepEqual([said.code, said.out], [1, ""]);
    assert.match(said.err, /^".*\/work,home" has a comma: .*\n$/);
  }
  assert.deepEqual(await terminal.list(""), []);
});

Deno.test("places of the files by platform and variables", () => {
  const of = (host: string, platform: string, env: Record<string, string>) =>
    HOSTS[host]?.path({ platform, env: { HOME: "/h", ...env } });
  assert.equal(
    of("claude-desktop", "darwin", {}),
    "/h/Library/Application Support/Claude/claude_desktop_config.json",
  );
  assert.equal(of("vscode", "darwin", {}), "/h/Library/Application Support/Code/User/mcp.json");
  assert.equal(of("vscode", "linux", { XDG_CONFIG_HOME: "/c" }), "/c/Code/User/mcp.json");
  assert.equal(of("vscode", "win32", { APPDATA: "/a" }), "/a/Code/User/mcp.json");
  assert.equal(of("claude-code", "linux", {}), "/h/.claude.json");
  assert.equal(of("claude-code", "linux", { CLAUDE_CONFIG_DIR: "/cc" }), "/cc/.claude.json");
  assert.equal(of("codex", "linux", { CODEX_HOME: "/cx" }), "/cx/config.toml");
  assert.equal(of("cursor", "linux", { HOME: "" }), undefined);
});

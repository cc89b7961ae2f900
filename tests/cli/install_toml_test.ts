import assert from "node:assert/strict";
import { diffLines } from "../../cli/install/diff.ts";
import { ConfigError } from "../../cli/install/entry.ts";
import { editToml, tomlChange } from "../../cli/install/toml_config.ts";
import { verifies } from "../requirements.ts";

const ENTRY = { command: "/bin/svc-mcp", args: ["--ns=work", 'a "quoted" one'] };
const TABLE = `[mcp_servers.svc]
command = "/bin/svc-mcp"
args = [ "--ns=work", "a \\"quoted\\" one" ]`;

const edit = (text: string) => editToml(text, "mcp_servers", ENTRY);

Deno.test("the table is appended to a TOML file", () => {
  verifies("13.4-4");
  assert.deepEqual(edit(""), { text: `${TABLE}\n`, changed: true });
  const other = `# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "y"\n\n\n`;
  assert.equal(edit(other).text, `${other.trimEnd()}\n\n${TABLE}\n`);
  const windows = edit("a = 1\r\n").text;
  assert.equal(windows, `a = 1\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}\r\n`);
});

Deno.test("an older table is replaced with its subtables, the rest stays", () => {
  verifies("13.4-4");
  const before = `a = 1

[ mcp_servers . "svc" ] # old
url = "http://x"

# about the headers
[mcp_servers.svc.http_headers]
x = "1"

# about the other
[mcp_servers.other]
args = [
  "[mcp_servers.svc]",
]
`;
  const { text } = edit(before);
  assert.equal(
    text,
    `a = 1

${TABLE}

# about the other
[mcp_servers.other]
args = [
  "[mcp_servers.svc]",
]
`,
  );
  assert.deepEqual(edit(text), { text, changed: false });
});

Deno.test("what looks like a table inside of a text is no reason to break the file", () => {
  const tricky = 'a = """\n[mcp_servers.svc]\nx = 1\n"""\n';
  const unsafe = new ConfigError("it is written in a way that cannot be changed safely");
  assert.throws(() => edit(tricky), unsafe);
  for (const text of ["mcp_servers = { svc = { url = 'x' } }\n", "mcp_servers.svc.url = 'x'\n"]) {
    assert.throws(() => edit(text), unsafe);
  }
});

Deno.test("numbers of 64 bits are valid TOML", () => {
  const before = "most = 9223372036854775807\nfew = 7\n";
  const { text } = edit(before);
  assert.equal(text, `${before}\n${TABLE}\n`);
  assert.deepEqual(edit(text), { text, changed: false });
});

Deno.test("the diff leaves out a table between tables of the entry", () => {
  verifies("13.4-4");
  const before = `[mcp_servers.svc]
url = "old"
[mcp_servers.other]
env = { KEY = "secret" }
[mcp_servers.svc.env]
KEY = "old"
`;
  const shown = diffLines(tomlChange(before, edit(before).text, "mcp_servers"));
  assert(!shown.includes("secret"), shown);
  assert.match(
    shown,
    /^@@ line 2 @@\n- url = "old"\n- \[mcp_servers\.svc\.env\]\n- KEY = "old"\n\+ comm/,
  );
});

import assert from "node:assert/strict";
import { resolveSettings } from "../../cli/settings.ts";
import { startOf } from "../../cli/start.ts";
import { verifies } from "../requirements.ts";

Deno.test("what a start does: command, sign-in, status, or serving a host", () => {
  verifies("13.2-1", "13.2-2", "13.2-3");
  const bridge = "(bridge)";
  const rows: [args: string, terminal: boolean, signedIn: boolean, wanted: string][] = [
    ["", false, false, bridge],
    ["", false, true, bridge],
    ["--login", false, true, bridge],
    ["--relayer http://x --ns work --colour", false, false, bridge],
    ["--colour red", false, true, bridge],
    ["--colour red --shape round", false, true, bridge],
    ["--colour status", false, true, "--colour status"],
    ["--colour=red status", false, true, "--colour=red status"],
    ["statsu", false, true, "statsu"],
    ["", true, false, "login"],
    ["", true, true, "status"],
    ["--local", true, false, "login --local"],
    ["--local", true, true, "status --local"],
    ["--login --local", true, true, "login --local"],
    ["--logout", false, true, "logout"],
    ["--logout", true, false, "logout"],
    ["--help", false, false, "--help"],
    ["-h --login", true, false, "--help"],
    ["recall --help", false, false, "recall --help"],
    ["login --local", false, false, "login --local"],
    ["recall tea --json", true, true, "recall tea --json"],
  ];
  for (const [line, terminal, signedIn, wanted] of rows) {
    const args = line === "" ? [] : line.split(" ");
    const start = startOf(args, resolveSettings({ args, env: {} }), terminal, signedIn);
    const got = start.does === "bridge" ? bridge : start.args.join(" ");
    assert.equal(got, wanted, `${line} ${terminal} ${signedIn}`);
  }
});

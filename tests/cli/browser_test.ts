import assert from "node:assert/strict";
import { mayOpenBrowser, openBrowser } from "../../cli/login/mod.ts";
import { verifies } from "../requirements.ts";

const URL_OF_LOGIN = "http://localhost:5173/connect/mcp?port=1&label=a%20b%26calc";

Deno.test("a browser is opened without a shell, by the platform's own program", () => {
  verifies("14.2-2");
  for (
    const [platform, program] of [
      ["linux", "xdg-open"],
      ["darwin", "open"],
      ["win32", "rundll32"],
    ] as const
  ) {
    const runs: [string, readonly string[]][] = [];
    const env = { DISPLAY: ":0" };
    const run = (program: string, args: readonly string[]) => void runs.push([program, args]);
    assert(openBrowser(URL_OF_LOGIN, { env, platform, run }));
    assert.equal(runs.length, 1);
    assert.equal(runs[0]![0], program);
    assert.equal(runs[0]![1].at(-1), URL_OF_LOGIN);
  }
});

Deno.test("nothing is opened where nobody sits in front of a screen", () => {
  const linux = { platform: "linux" };
  assert(mayOpenBrowser({ ...linux, env: { WAYLAND_DISPLAY: "wayland-0" } }));
  assert(!mayOpenBrowser({ ...linux, env: {} }));
  assert(!mayOpenBrowser({ ...linux, env: { DISPLAY: ":0", SSH_CONNECTION: "1 2 3 4" } }));
  assert(!mayOpenBrowser({ ...linux, env: { DISPLAY: ":0", SVC_NO_BROWSER: "1" } }));
  assert(mayOpenBrowser({ platform: "darwin", env: {} }));
  assert(!mayOpenBrowser({ platform: "darwin", env: { SSH_TTY: "/dev/pts/0" } }));
});

Deno.test("addresses of other schemes and failures to start open nothing", () => {
  const env = { DISPLAY: ":0" };
  const never = () => assert.fail("it was started");
  for (const url of ["file:///etc/passwd", "javascript:alert(1)", "vscode://x"]) {
    assert(!openBrowser(url, { env, platform: "linux", run: never }));
  }
  const refuse = () => {
    throw new Error("no permission");
  };
  assert(!openBrowser(URL_OF_LOGIN, { env, platform: "linux", run: refuse }));
});

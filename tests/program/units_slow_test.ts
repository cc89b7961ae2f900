import assert from "node:assert/strict";
import { launchdUnit, systemdUnit, windowsUnit } from "../../src/program/background/units.ts";

const PLAN = {
  command: ["/opt/my deno/deno", "run", "--config=/x/100%/deno.json", "main.ts", "start"],
  env: { SVC_PORT: "8123", SVC_X: `a "quoted" & <tagged> $HOME %h \\ value` },
  cwd: "/home/ada",
  stopSeconds: 25,
  log: "/home/ada/.svc/svc.log",
};

Deno.test("a systemd unit keeps every word as it is", () => {
  const { text, path, install } = systemdUnit(PLAN, "/home/ada");
  assert.equal(path, "/home/ada/.config/systemd/user/svc.service");
  assert.match(text, /^ExecStart="\/opt\/my deno\/deno" "run" "--config=\/x\/100%%\/deno\.json" /m);
  const line = `Environment="SVC_X=a \\"quoted\\" & <tagged> $HOME %%h \\\\ value"`;
  assert.ok(text.includes(`${line}\n`), text);
  assert.match(text, /^TimeoutStopSec=25$/m);
  assert.deepEqual(install.at(-1)!.slice(0, 3), ["systemctl", "--user", "enable"]);
});

Deno.test("a property list and a task are XML", () => {
  for (const unit of [launchdUnit(PLAN, "/Users/ada"), windowsUnit(PLAN, "C:\\Users\\ada")]) {
    assert.match(unit.text, /^<\?xml version="1\.0"/);
    assert.doesNotMatch(unit.text.replaceAll(/&(amp|lt|gt|quot);/g, ""), /&/);
    const tags = [...unit.text.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)]
      .filter(([, , , empty]) => empty === "");
    const open: string[] = [];
    for (const [, end, name] of tags) {
      if (end === "") open.push(name!);
      else assert.equal(open.pop(), name);
    }
    assert.deepEqual(open, []);
  }
  assert.match(launchdUnit(PLAN, "/Users/ada").text, /<integer>25<\/integer>/);
});

const hasAnalyzer = await new Deno.Command("systemd-analyze", { args: ["--version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "systemd itself finds nothing wrong with the unit",
  ignore: !hasAnalyzer, // systemd is not on this machine
  async fn() {
    const home = await Deno.makeTempDir();
    try {
      const plan = { ...PLAN, command: [Deno.execPath(), ...PLAN.command.slice(1)], cwd: home };
      const path = `${home}/svc.service`;
      await Deno.writeTextFile(path, systemdUnit(plan, home).text);
      const { code, stderr } = await new Deno.Command("systemd-analyze", {
        args: ["verify", "--user", path],
        env: { XDG_RUNTIME_DIR: home },
      }).output();
      const said = new TextDecoder().decode(stderr);
      assert.ok(!said.includes("svc.service"), said);
      assert.equal(code, 0, said);
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  },
});

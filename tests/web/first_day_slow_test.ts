import assert from "node:assert/strict";
import { buildRelease } from "../../build/release.ts";
import { VERSION } from "../../src/wire/version.ts";
import { textOf } from "../cli/bridge/host_peer.ts";
import { StdioPackage } from "../e2e/stdio.ts";
import { freePort } from "../free_port.ts";
import { inHome, linesOf } from "../program.ts";
import { browserTest } from "./chromium.ts";

/** What a reader of a recording sees; not part of the repository. */
const RECORDING = new URL("../../artifacts/first-day/", import.meta.url);

/** Somebody's computer: a home folder, the installed commands, and what was seen on its terminal. */
class Computer {
  readonly #env: Record<string, string>;
  readonly #bin: string;
  readonly #seen: string[];

  constructor(readonly home: string, readonly name: string, bin: string, seen: string[]) {
    this.#bin = bin;
    this.#seen = seen;
    // What this machine needs to reach the registry, and nothing of this program's.
    const inherited = Object.entries(Deno.env.toObject()).filter(([key]) =>
      !key.startsWith("SVC_")
    );
    this.#env = {
      ...Object.fromEntries(inherited),
      HOME: home,
      USERPROFILE: home,
      DENO_DIR: `${home}/deno`,
      NO_COLOR: "1",
      SVC_NO_BROWSER: "1",
      // A first day has the usual ports; a machine of tests has others beside it.
      SVC_PORT: String(freePort()),
      SVC_WEB_PORT: String(freePort()),
      SIDECAR_URL: `http://127.0.0.1:${freePort()}`,
    };
    this.#env.SVC_SERVER_URL = `http://127.0.0.1:${this.#env.SVC_PORT}`;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#env;
  }

  /** Types a command, and lines that it asks for; what it prints. */
  async type(line: string, typed = ""): Promise<string> {
    const [command = "", ...args] = line.match(/"[^"]*"|\S+/g)!
      .map((word) => word.replaceAll('"', ""));
    const child = this.#spawn(command, args);
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(typed === "" ? "" : `${typed}\n`));
    await writer.close().catch(() => {});
    const [out, errors] = await Promise.all(
      [child.stdout, child.stderr].map((stream) => new Response(stream).text()),
    );
    const { code } = await child.status;
    this.#seen.push(`${this.name}$ ${line}\n${errors}${out}`);
    assert.equal(code, 0, `${line}\n${out}${errors}`);
    return `${out}${errors}`;
  }

  /** The address that `svc open` prints, and its end. */
  async open(): Promise<{ address: string; ended: Promise<string> }> {
    const child = this.#spawn("svc", ["open"]);
    await child.stdin.close();
    const out = new Response(child.stdout).text();
    const address = Promise.withResolvers<string>();
    const errors: string[] = [];
    const reading = (async () => {
      for await (const text of linesOf(child.stderr)) {
        errors.push(text);
        const found = text.match(/http:\/\/localhost:\d+\/open#\S+/)?.[0];
        if (found !== undefined) address.resolve(found);
      }
    })();
    const ended = (async () => {
      await reading;
      await child.status;
      const said = `${errors.join("\n").replaceAll(/#\S+/g, "#…")}\n${await out}`;
      this.#seen.push(`${this.name}$ svc open\n${said}`);
      return said;
    })();
    return { address: await address.promise, ended };
  }

  #spawn(command: string, args: readonly string[]): Deno.ChildProcess {
    return new Deno.Command(`${this.#bin}/${command}`, {
      args: [...args],
      cwd: this.home,
      env: { ...this.#env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }
}

/** Asks through the command that `install` wrote into an app's configuration. */
async function askedByApp({ home, env }: Computer): Promise<string> {
  const config = JSON.parse(await Deno.readTextFile(`${home}/.cursor/mcp.json`));
  const { command, args, env: own = {} } = config.mcpServers.svc;
  await using app = new StdioPackage({ command, args, env: { ...env, ...own } });
  await app.host.initialize();
  const found = await app.host.call("svc_recall", { query: "what should I not cook for them?" });
  await app.end();
  return textOf(found);
}

const FACT = "I am allergic to peanuts";

browserTest("a first day, and the day that everything is lost", async (browser) => {
  await inHome(async (base) => {
    const seen: string[] = [];
    await buildRelease(`${base}/release`);
    const tarballs = ["svc", "svc-mcp"].map((name) => `${base}/release/${name}-${VERSION}.tgz`);
    const { success } = await new Deno.Command("npm", {
      args: ["install", "--silent", "--global", "--prefix", `${base}/npm`, ...tarballs],
    }).output();
    assert.ok(success);
    const bin = `${base}/npm/bin`;
    const [here, there] = ["laptop", "new-laptop"].map((name) =>
      new Computer(`${base}/${name}`, name, bin, seen)
    ) as [Computer, Computer];
    await Deno.mkdir(here.home);
    await Deno.mkdir(there.home);
    const shows = async (computer: Computer, picture: string): Promise<void> => {
      const page = await (await browser.newContext()).newPage();
      const { address, ended } = await computer.open();
      await page.goto(address);
      await page.getByText(FACT).first().waitFor();
      await page.screenshot({ path: new URL(picture, RECORDING).pathname });
      assert.match(await ended, /signed in/);
      await page.context().close();
    };
    try {
      assert.match(await here.type("svc"), /Next: +svc start/);
      assert.match(await here.type("svc start --background"), /The relayer runs/);
      assert.match(await here.type(`svc remember "${FACT}"`), /Remembered in default/);
      assert.match(await here.type("svc recall what should I not cook"), /^1\. I am allergic/m);
      await shows(here, "1-dashboard.png");

      await here.type("svc-mcp install cursor --yes");
      assert.match(await askedByApp(here), /I am allergic to peanuts/);

      await here.type("svc stop");
      await here.type("svc start --background");
      assert.match(await here.type("svc recall peanuts"), /^1\. I am allergic/m);

      const backup = /read back: (\S+)/.exec(await here.type("svc backup"))![1]!;
      await here.type("svc stop");
      await Deno.rename(`${here.home}/.svc/relayer`, `${base}/lost`);
      assert.match(await here.type(`svc restore-backup ${backup}`), /Restored \d+ files/);
      await here.type("svc start --background");
      assert.match(await here.type("svc recall peanuts"), /^1\. I am allergic/m);
      assert.match(await askedByApp(here), /I am allergic to peanuts/);
      await here.type("svc stop");

      // Another machine has the file, and its owner the words.
      const { words } = JSON.parse(await Deno.readTextFile(`${here.home}/.svc/owner.json`));
      const asked = await there.type(`svc restore-backup ${backup}`, words);
      assert.match(asked, /Recovery words/);
      await there.type("svc start --background");
      await there.type("svc account recover --save", words);
      assert.match(await there.type("svc recall peanuts"), /^1\. I am allergic/m);
      await shows(there, "2-dashboard-elsewhere.png");
      for (const text of seen) assert.ok(!text.includes(words), "the words are not shown again");
    } finally {
      for (const computer of [here, there]) await computer.type("svc stop");
      await Deno.mkdir(RECORDING, { recursive: true });
      const text = seen.join("\n").replaceAll(base, "~");
      await Deno.writeTextFile(new URL("terminal.txt", RECORDING), text);
    }
  });
});

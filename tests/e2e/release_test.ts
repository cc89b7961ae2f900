import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import type { PackageManifest } from "../../build/program_package.ts";
import { buildRelease, releaseNotes } from "../../build/release.ts";
import { filesBelow } from "../../build/tarball.ts";
import { VERSION } from "../../src/wire/version.ts";
import { freePort } from "../free_port.ts";
import { NpmRegistry } from "../npm_registry.ts";
import { inHome } from "../program.ts";
import { poll } from "../within.ts";
import { StdioPackage } from "./stdio.ts";

/** Runs a command to its end, and answers what it printed. */
async function output(
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    env,
    stdin: "null",
  }).output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${command} ${args.join(" ")}: ${out}${errors}`);
  return out!;
}

/** Variables of a program that has nothing but a home, and ports of its own. */
function newcomer(home: string, port: number): Record<string, string> {
  return {
    HOME: home,
    USERPROFILE: home,
    DENO_DIR: `${home}/deno`,
    NO_COLOR: "1",
    SVC_PORT: String(port),
    SVC_WEB_PORT: "0",
    SIDECAR_URL: `http://127.0.0.1:${freePort()}`,
  };
}

const megabytes = async (folder: string): Promise<number> => {
  let sum = 0;
  for (const path of await filesBelow(folder)) sum += (await Deno.lstat(`${folder}/${path}`)).size;
  return sum / 1e6;
};

/** Starts an installed program, remembers and recalls with it, and stops it. */
async function firstMinute(program: string, home: string): Promise<void> {
  const port = freePort();
  const env = newcomer(home, port);
  const child = new Deno.Command(program, {
    args: ["start"],
    env,
    cwd: home,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [out, errors] = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  try {
    await poll(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.status;
    }, (status) => status === 200);
    const at = { cwd: home, env };
    const said = await output(program, ["remember", "I am allergic to peanuts"], at);
    assert.match(said, /^Remembered in default\./);
    const found = await output(program, ["recall", "what should I not cook?"], at);
    assert.match(found, /^1\. I am allergic to peanuts\n/);
  } finally {
    child.kill("SIGTERM");
  }
  assert.equal((await child.status).code, 0, await errors);
  // Its own name, and not a line of Deno's.
  assert.match(await out!, /^ {2}svc remember/m);
  assert.doesNotMatch(`${await out}${await errors}`, /Task |Download|Warning/);
}

Deno.test("a release is the same whenever it is built, and can be installed", async (t) => {
  await inHome(async (home) => {
    const folder = `${home}/release`;
    const repository = "https://github.com/OWNER/svc";
    await buildRelease(folder, repository);

    await t.step("two builds give the same bytes", async () => {
      await buildRelease(`${home}/again`, repository);
      const names = await filesBelow(folder);
      assert.deepEqual(await filesBelow(`${home}/again`), names);
      for (const name of names) {
        const [a, b] = [`${folder}/${name}`, `${home}/again/${name}`];
        assert.ok(Buffer.compare(await Deno.readFile(a), await Deno.readFile(b)) === 0, name);
      }
    });

    await t.step("the checksums fit", async () => {
      const env = { PATH: Deno.env.get("PATH")! };
      await output("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder, env });
    });

    await t.step("the registry is told of the bundle that is there", async () => {
      const { name, packages } = JSON.parse(await Deno.readTextFile(`${folder}/server.json`));
      const [npm, bundle] = packages;
      const file = bundle.identifier.split("/").at(-1);
      const bytes = await Deno.readFile(`${folder}/${file}`);
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
      assert.equal(bundle.fileSha256, hash);
      const archive = `${folder}/${npm.identifier}-${npm.version}.tgz`;
      const env = { PATH: Deno.env.get("PATH")! };
      const args = ["-xzOf", archive, "package/package.json"];
      const { mcpName } = JSON.parse(await output("tar", args, { cwd: home, env }));
      assert.equal(mcpName, name);
    });

    await t.step("the bill of materials is valid, and has what the program imports", async () => {
      const text = await Deno.readTextFile(`${folder}/svc.cdx.json`);
      const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
      assert.equal(await validator.validate(text), null);
      const { components } = JSON.parse(text) as { components: { purl: string }[] };
      const names = components.map(({ purl }) => purl.replace(/@[^@]*$/, ""));
      for (const name of ["zod", "%40modelcontextprotocol/server", "age-encryption"]) {
        assert.ok(names.includes(`pkg:npm/${name}`), name);
      }
      assert.ok(!names.includes("pkg:npm/playwright-core"), "what only tests use is not in it");
    });

    await t.step("nothing of this machine is in it", async () => {
      for (const name of ["svc", "svc-mcp"]) {
        const archive = `${folder}/${name}-${VERSION}.tgz`;
        const env = { PATH: Deno.env.get("PATH")! };
        const text = await output("tar", ["-xzOf", archive], { cwd: home, env });
        assert.ok(!text.includes(Deno.env.get("HOME")!), name);
        assert.ok(!text.includes(new URL("../../", import.meta.url).pathname), name);
      }
    });

    const npm = { cwd: home, env: { ...Deno.env.toObject(), npm_config_audit: "false" } };
    await Deno.writeTextFile(`${home}/package.json`, "{}");
    const tarballs = ["svc", "svc-mcp"].map((name) => `${folder}/${name}-${VERSION}.tgz`);
    await output("npm", ["install", "--silent", ...tarballs], npm);

    await t.step("installed by npm, the relayer starts", async () => {
      await Deno.mkdir(`${home}/npm`);
      await firstMinute(`${home}/node_modules/.bin/svc`, `${home}/npm`);
      assert.ok(await megabytes(`${home}/npm/deno`) < 60, "what the first start fetches");
    });

    await t.step("installed by npm, the stdio package answers a host", async () => {
      const command = `${home}/node_modules/.bin/svc-mcp`;
      const env = { ...newcomer(home, 1), SVC_NO_BROWSER: "1", PATH: Deno.env.get("PATH")! };
      await using started = new StdioPackage({ command, args: [], env });
      assert.equal((await started.host.initialize()).serverInfo.name, "svc");
      assert.equal(await started.end(), 0);
    });

    await t.step("the client has types for Node", async () => {
      const source = `import { SvcClient } from "svc/client";
        const client = new SvcClient({ baseUrl: "", privateKey: "", accountId: "" });
        const found: Promise<{ results: readonly { text: string }[] }> = client.recall("tea");
        // @ts-expect-error: a query is a text.
        client.recall(7);
        export { found };\n`;
      await Deno.writeTextFile(`${home}/use.mts`, source);
      const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024"];
      const compiler = [
        "run",
        "-A",
        "--lock=deno.lock",
        "--frozen",
        "npm:typescript@6.0.3/bin/tsc",
      ];
      const root = new URL("../../", import.meta.url).pathname;
      const lib = ["--lib", "esnext,dom,dom.iterable", "--skipLibCheck"];
      const at = { cwd: root, env: { NO_COLOR: "1" } };
      await output(Deno.execPath(), [...compiler, ...flags, ...lib, `${home}/use.mts`], at);
    });

    await t.step("installed by Deno, the relayer starts", async () => {
      const packages = new Map();
      for (const name of ["svc", "svc-mcp"]) {
        const archive = `${folder}/${name}-${VERSION}.tgz`;
        const env = { PATH: Deno.env.get("PATH")! };
        const args = ["-xzOf", archive, "package/package.json"];
        const manifest: PackageManifest = JSON.parse(await output("tar", args, { cwd: home, env }));
        packages.set(name, { manifest, tarball: await Deno.readFile(archive) });
      }
      const real = (await output("npm", ["config", "get", "registry"], npm)).trim();
      await using registry = new NpmRegistry(packages, real);
      const user = `${home}/deno_user`;
      await Deno.mkdir(user);
      const env = { ...newcomer(user, 1), NPM_CONFIG_REGISTRY: registry.url };
      const how = ["install", "--global", "--quiet", "-A", "--min-dep-age", "0", "--name"];
      for (const name of ["svc", "svc-mcp"]) {
        await output(Deno.execPath(), [...how, name, `npm:${name}`], { cwd: user, env });
      }
      await firstMinute(`${user}/.deno/bin/svc`, user);
      const mcp = await output(`${user}/.deno/bin/svc-mcp`, ["--help"], { cwd: user, env });
      assert.match(mcp, /^Usage: svc-mcp/);
    });
  });
});

Deno.test("release notes are what the changelog says of the version", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- later\n\n## [1.2.0] - 2026-11-24\n\n- now\n";
  assert.equal(releaseNotes(changelog, "1.2.0"), "# svc 1.2.0\n\n- now\n");
  assert.equal(releaseNotes(changelog, "1.3.0"), "# svc 1.3.0\n\n- later\n");
  assert.throws(() => releaseNotes("# Changelog\n", "1.0.0"), /says nothing/);
});

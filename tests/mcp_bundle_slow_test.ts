import assert from "node:assert/strict";
import { Ajv2019 } from "ajv/dist/2019.js";
import { writeMcpBundle } from "../build/mcp_bundle.ts";
import { registryName, serverJson } from "../build/server_json.ts";
import { runDeno } from "../build/run_deno.ts";
import { buildPackage } from "../build/stdio_package.ts";
import { filesBelow } from "../build/tarball.ts";
import { VERSION } from "../src/wire/version.ts";
import { StdioPackage } from "./e2e/stdio.ts";
import { LOCKED } from "./locked.ts";
import { inHome } from "./program.ts";

const REPOSITORY = "https://github.com/OWNER/svc";
/** The format's own tool. */
const mcpb = (...args: string[]) =>
  runDeno(["run", "--quiet", ...LOCKED, "-A", "npm:@anthropic-ai/mcpb@2.1.2", ...args]);

/** What a host makes of a text of a manifest. */
const filledIn = (text: string, folder: string, config: Readonly<Record<string, string>>) =>
  text.replaceAll("${__dirname}", folder)
    .replace(/\$\{user_config\.(\w+)\}/g, (_, name) => config[name]!);

Deno.test("a bundle is what its format's tool takes, and starts as its manifest says", async () => {
  await inHome(async (home) => {
    await buildPackage(`${home}/made`, REPOSITORY);
    const bundle = `${home}/svc-mcp.mcpb`;
    await writeMcpBundle(`${home}/made`, bundle, REPOSITORY);
    await mcpb("info", bundle);
    await mcpb("unpack", bundle, `${home}/host`);
    await mcpb("validate", `${home}/host/manifest.json`);
    assert.deepEqual(await filesBelow(`${home}/host`), [
      "LICENSE",
      "THIRD_PARTY_LICENSES",
      "manifest.json",
      "server/svc-mcp.mjs",
    ]);

    const text = await Deno.readTextFile(`${home}/host/manifest.json`);
    const { server: { mcp_config }, user_config, version } = JSON.parse(text);
    assert.equal(version, VERSION);
    const config: Record<string, string> = Object.fromEntries(
      Object.entries<{ default: string }>(user_config).map(([name, one]) => [name, one.default]),
    );
    assert.doesNotMatch(text, /sensitive/, "no key belongs into a configuration");
    const filled = (given: string) => filledIn(given, `${home}/host`, config);
    const env = Object.fromEntries(
      Object.entries<string>(mcp_config.env).map(([name, given]) => [name, filled(given)]),
    );
    await using started = new StdioPackage({
      command: mcp_config.command,
      args: mcp_config.args.map(filled),
      env: { ...env, HOME: home, SVC_NO_BROWSER: "1", PATH: Deno.env.get("PATH")! },
    });
    assert.equal((await started.host.initialize()).serverInfo.version, VERSION);
    assert.ok((await started.host.tools()).includes("svc_login"));
    assert.deepEqual(started.errors.filter((line) => line.includes('"note"')), []);
    assert.equal(await started.end(), 0);
  });
});

Deno.test("the registry is told what its schema takes", async () => {
  const name = registryName(REPOSITORY)!;
  assert.equal(name, "io.github.OWNER/svc-mcp");
  assert.equal(registryName("https://git.example.org/OWNER/svc"), undefined);
  assert.equal(registryName(undefined), undefined);
  const bundle = { file: `svc-mcp-${VERSION}.mcpb`, sha256: "0a".repeat(32) };
  const server = serverJson(name, REPOSITORY, bundle);
  const schema = JSON.parse(
    await Deno.readTextFile(new URL("testdata/server_schema.json", import.meta.url)),
  );
  const isValid = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  assert.ok(isValid(server), JSON.stringify(isValid.errors));
  for (const wrong of [{ name: "svc" }, { description: "x".repeat(101) }, { version: "latest" }]) {
    assert.ok(!isValid({ ...server, ...wrong }), JSON.stringify(wrong));
  }
});

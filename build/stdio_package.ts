import { resolve } from "node:path";
import { VERSION } from "../src/wire/version.ts";
import { VARIABLES } from "../cli/environment.ts";
import { ROOT, runDeno } from "./run_deno.ts";
import { registryName } from "./server_json.ts";

/**
 * Members of a package.json about its source, which registries compare with where it was built.
 *
 * @param url Address of the repository.
 */
export function sourceMembers(url: string | undefined): object {
  return url === undefined ? {} : { repository: { type: "git", url: `git+${url}.git` } };
}

/** What lets the registry of MCP know the package as its own. */
function registryMembers(repository: string | undefined): object {
  const mcpName = registryName(repository);
  return mcpName === undefined ? {} : { mcpName };
}

/** What the npm registry is told. */
const MANIFEST = {
  name: "svc-mcp",
  version: VERSION,
  description: "Private, portable memory for AI agents, over MCP and in the terminal",
  license: "Apache-2.0",
  type: "module",
  bin: { "svc-mcp": "svc-mcp.mjs" },
  files: ["svc-mcp.mjs", "LICENSE", "THIRD_PARTY_LICENSES"],
  engines: { node: ">=20" },
  publishConfig: { access: "public", provenance: true },
};

/** Largest executable, in bytes. */
export const EXECUTABLE_BYTES = 110_000_000;

/** Where the bundler took a module of a package from: a cache, then name and version. */
const MODULE = /[^\s"]*\/npm\/[^/\s"]+\/((?:@[^/\s"]+\/)?[^/\s"]+\/\d[^/\s"]*)\//g;

/** What a bundle is made of. */
export interface Bundle {
  /** Folders of the packages in it, by name and version, such as `@noble/hashes/2.2.0`. */
  readonly packages: ReadonlyMap<string, string>;
}

/**
 * Makes one file of a module and all it imports, for Deno and for Node.
 *
 * @param entry Path of the module, from the root.
 * @param output Path of the file; its folder must exist.
 */
export async function bundle(entry: string, output: string): Promise<Bundle> {
  const lock = ["--lock=deno.lock", "--frozen"];
  const how = ["--quiet", ...lock, "--platform", "deno", "--format", "esm"];
  await runDeno(["bundle", ...how, "--output", output, entry]);
  const packages = new Map<string, string>();
  const text = (await Deno.readTextFile(output)).replace(MODULE, (folder, name: string) => {
    packages.set(name, resolve(ROOT, folder));
    return `npm/${name}/`; // The same file wherever it is made.
  });
  await Deno.writeTextFile(output, text);
  return { packages };
}

/** Makes the one file of the stdio package, which can be started. */
export async function bundleStdio(output: string): Promise<Bundle> {
  const made = await bundle("cli/svc_mcp.ts", output);
  const text = await Deno.readTextFile(output);
  await Deno.writeTextFile(output, `#!/usr/bin/env node\n${text}`);
  if (Deno.build.os !== "windows") await Deno.chmod(output, 0o755);
  return made;
}

/** A value as a file of a package has it. */
export const json = (value: unknown): string => JSON.stringify(value, null, 2) + "\n";

/** Licences of the packages in a bundle, which their owners want to go with it. */
export async function licences({ packages }: Bundle): Promise<string> {
  const texts: string[] = [];
  for (const [name, folder] of [...packages].sort(([a], [b]) => a < b ? -1 : 1)) {
    const files = (await Array.fromAsync(Deno.readDir(folder))).map((entry) => entry.name);
    const licence = files.find((file) => /^licen[cs]e(\.|$)/i.test(file));
    if (licence === undefined) throw new Error(`${name} has no licence file`);
    texts.push(`== ${name}\n\n${(await Deno.readTextFile(`${folder}/${licence}`)).trim()}\n`);
  }
  return texts.join("\n");
}

/**
 * Makes the folder that `npm publish` takes.
 *
 * @param repository Address of the repository, without `.git`.
 */
export async function buildPackage(folder: string, repository?: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const made = await bundleStdio(`${folder}/svc-mcp.mjs`);
  await Deno.writeTextFile(
    `${folder}/package.json`,
    json({ ...MANIFEST, ...registryMembers(repository), ...sourceMembers(repository) }),
  );
  await Deno.writeTextFile(`${folder}/THIRD_PARTY_LICENSES`, await licences(made));
  await Deno.copyFile(`${ROOT}LICENSE`, `${folder}/LICENSE`);
}

/** Program that opens a browser, which an executable for a system may start. */
const opener = (target: string): string =>
  target.includes("darwin") ? "open" : target.includes("windows") ? "rundll32" : "xdg-open";

/**
 * Makes an executable of a bundle. From the bundle, because one made from the source holds every
 * package of the lock file.
 *
 * @param bundled Path of the bundle.
 * @param output Path of the executable.
 * @param how `base`: a base binary, instead of the one of Deno's release. `target`: for which system,
 * as Deno names it; this one if absent.
 * @throws {Error} when it is larger than 110 MB.
 */
export async function compile(
  bundled: string,
  output: string,
  { base, target = Deno.build.target }: { readonly base?: string; readonly target?: string } = {},
): Promise<void> {
  const permissions = [
    "--allow-net",
    "--allow-read",
    "--allow-write",
    `--allow-env=${VARIABLES.join(",")}`,
    `--allow-run=${opener(target)}`,
  ];
  const how = ["--no-config", "--no-prompt", "--target", target, ...permissions];
  const env: Record<string, string> = base === undefined ? {} : { DENORT_BIN: base };
  await runDeno(["compile", ...how, "--output", output, bundled], env);
  const { size } = await Deno.stat(output);
  if (size > EXECUTABLE_BYTES) throw new Error(`${output} has ${size} bytes`);
}

const say = (text: string) => Deno.stdout.write(new TextEncoder().encode(`${text}\n`));

if (import.meta.main) {
  await buildPackage(`${ROOT}dist`);
  await say("dist/svc-mcp.mjs: start it with node, or with deno as docs/stdio.md says.");
  if (Deno.args[0] === "--compile") {
    await compile(`${ROOT}dist/svc-mcp.mjs`, `${ROOT}dist/svc-mcp`);
    await say("dist/svc-mcp: start it as it is.");
  }
}

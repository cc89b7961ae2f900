import { buildProgram, EXECUTABLES } from "./program_package.ts";
import { billOfMaterials } from "./sbom.ts";
import { writeMcpBundle } from "./mcp_bundle.ts";
import { registryName, serverJson } from "./server_json.ts";
import { buildPackage, bundleStdio, compile, json } from "./stdio_package.ts";
import { filesBelow, writeTarball } from "./tarball.ts";
import { ROOT } from "./run_deno.ts";
import { VERSION } from "../src/wire/version.ts";

/** Largest files of a release, bytes: what grows beyond them is looked at first. */
const MOST_BYTES: Readonly<Record<string, number>> = {
  [`svc-${VERSION}.tgz`]: 5_000_000,
  [`svc-mcp-${VERSION}.tgz`]: 1_500_000,
  [`svc-mcp-${VERSION}.mcpb`]: 1_500_000,
  "svc-mcp.mjs": 3_000_000,
  "svc.cdx.json": 500_000,
};

/** Systems that there are executables for, as Deno names them. */
const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

/** The part of the changelog about a version; the unreleased one where it is not named yet. */
export function releaseNotes(changelog: string, version: string): string {
  const parts = changelog.split(/^## /m).slice(1);
  const found = parts.find((part) => part.startsWith(`[${version}]`) || part.startsWith(version)) ??
    parts.find((part) => part.startsWith("Unreleased"));
  if (found === undefined) throw new Error("CHANGELOG.md says nothing of this version");
  return `# svc ${version}\n\n${found.slice(found.indexOf("\n")).trim()}\n`;
}

async function sha256(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/**
 * Makes everything that a release consists of: two packages for npm, the one file of the stdio
 * package, the same as a bundle for hosts, what it is made of, what is new, and checksums. Two builds
 * give the same bytes.
 *
 * @param folder Where to; what is there is removed.
 * @param repository Address of the repository, for registries that prove where a package was built;
 * without one at GitHub there is no `server.json`.
 * @throws {Error} when a file is larger than it should be.
 */
export async function buildRelease(folder: string, repository?: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  const work = await Deno.makeTempDir();
  try {
    await buildProgram(`${work}/svc`, repository);
    await writeTarball(`${work}/svc`, `${folder}/svc-${VERSION}.tgz`, EXECUTABLES);
    await buildPackage(`${work}/svc-mcp`, repository);
    const mcp = `${folder}/svc-mcp-${VERSION}.tgz`;
    await writeTarball(`${work}/svc-mcp`, mcp, ["svc-mcp.mjs"]);
    await addBundle(`${work}/svc-mcp`, folder, repository);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  await bundleStdio(`${folder}/svc-mcp.mjs`);
  await Deno.writeTextFile(`${folder}/svc.cdx.json`, await billOfMaterials());
  const changelog = await Deno.readTextFile(`${ROOT}CHANGELOG.md`);
  await Deno.writeTextFile(`${folder}/RELEASE_NOTES.md`, releaseNotes(changelog, VERSION));
  await writeChecksums(folder);
}

/** Makes the bundle for hosts, and what the registry of MCP is told of it. */
async function addBundle(made: string, folder: string, repository?: string): Promise<void> {
  const file = `svc-mcp-${VERSION}.mcpb`;
  await writeMcpBundle(made, `${folder}/${file}`, repository);
  const name = registryName(repository);
  if (name === undefined || repository === undefined) return;
  const server = serverJson(name, repository, { file, sha256: await sha256(`${folder}/${file}`) });
  await Deno.writeTextFile(`${folder}/server.json`, json(server));
}

/** Writes `SHA256SUMS`, as `sha256sum --check` reads it, and looks at the sizes. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const name of await filesBelow(folder)) {
    if (name === "SHA256SUMS") continue;
    const { size } = await Deno.stat(`${folder}/${name}`);
    const most = MOST_BYTES[name] ?? Infinity;
    if (size > most) throw new Error(`${name} has ${size} bytes, more than ${most}`);
    lines.push(`${await sha256(`${folder}/${name}`)}  ${name}\n`);
  }
  await Deno.writeTextFile(`${folder}/SHA256SUMS`, lines.join(""));
}

const say = (text: string) => Deno.stdout.write(new TextEncoder().encode(`${text}\n`));

/** An executable of the stdio package, where the base binary of Deno can be had. */
async function addExecutable(folder: string, target: string): Promise<void> {
  const name = `svc-mcp-${target}${target.includes("windows") ? ".exe" : ""}`;
  try {
    await compile(`${folder}/svc-mcp.mjs`, `${folder}/${name}`, { target });
  } catch (error) {
    await say(`SKIPPED ${name}: ${(error as Error).message.split("\n")[0]}`);
  }
}

if (import.meta.main) {
  const [repository] = Deno.args;
  const folder = `${ROOT}dist/release`;
  await buildRelease(folder, repository);
  for (const target of TARGETS) await addExecutable(folder, target);
  await writeChecksums(folder);
  await say(await Deno.readTextFile(`${folder}/SHA256SUMS`));
}

import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import manifest from "../deno.json" with { type: "json" };
import { ROOT, runDeno } from "./run_deno.ts";
import { VERSION } from "../src/wire/version.ts";

/** Members of `deno info --json` and of the lock that a bill of materials needs. */
interface GraphInfo {
  readonly modules: readonly { readonly npmPackage?: string }[];
  readonly npmPackages: Readonly<
    Record<string, { name: string; version: string; dependencies: readonly string[] }>
  >;
}
interface Lock {
  readonly npm: Readonly<Record<string, { readonly integrity?: string }>>;
}

/** Folders whose modules are in a release. */
const SHIPPED = ["main.ts", "mod.ts", "src", "plugins", "cli", "testing"];

async function modules(path: string): Promise<string[]> {
  if (path.endsWith(".ts")) return [path];
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}${path}`)) {
    if (isDirectory) found.push(...await modules(`${path}/${name}`));
    else if (name.endsWith(".ts")) found.push(`${path}/${name}`);
  }
  return found;
}

/** The packages that modules import, and those that they need; the lock has those of tests, too. */
function reached({ modules, npmPackages }: GraphInfo): Set<string> {
  const found = new Set<string>();
  const add = (id: string): void => {
    if (found.has(id) || npmPackages[id] === undefined) return;
    found.add(id);
    npmPackages[id].dependencies.forEach(add);
  };
  for (const { npmPackage } of modules) if (npmPackage !== undefined) add(npmPackage);
  return found;
}

/** A package of npm, with the hash that the lock has for it. */
function component(name: string, version: string, integrity: string | undefined) {
  const [group, short] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const made = new Models.Component(Enums.ComponentType.Library, short!, {
    version,
    bomRef: purl,
    purl: purl as never,
    ...(group === undefined ? {} : { group }),
  });
  const hash = integrity?.replace(/^sha512-/, "");
  if (hash !== undefined) {
    made.hashes.set(Enums.HashAlgorithm["SHA-512"], Uint8Array.fromBase64(hash).toHex());
  }
  return made;
}

/**
 * What a release is made of, as CycloneDX 1.6 has it: every package that its modules import, with
 * the hash of the lock. Without times and random numbers: two builds give the same bytes.
 *
 * @returns JSON.
 */
export async function billOfMaterials(): Promise<string> {
  const files = (await Promise.all(SHIPPED.map(modules))).flat().sort();
  const imports = files.map((file) =>
    `import "${new URL(file, new URL("../", import.meta.url))}";\n`
  );
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(entry, imports.join(""));
  const config = ["--config", "deno.json", "--lock=deno.lock", "--frozen"];
  const info: GraphInfo = JSON.parse(await runDeno(["info", "--json", ...config, entry]));
  await Deno.remove(entry);
  const lock: Lock = JSON.parse(await Deno.readTextFile(`${ROOT}deno.lock`));
  const bom = new Models.Bom();
  const root = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    version: VERSION,
    bomRef: manifest.name,
  });
  bom.metadata.component = root;
  const parts = new Map<string, Models.Component>();
  for (const id of reached(info)) {
    const { name, version } = info.npmPackages[id]!;
    const made = component(name, version, lock.npm[id]?.integrity);
    parts.set(id, made);
    bom.components.add(made);
    root.dependencies.add(made.bomRef);
  }
  for (const [id, part] of parts) {
    for (const other of info.npmPackages[id]!.dependencies) {
      const needed = parts.get(other);
      if (needed !== undefined) part.dependencies.add(needed.bomRef);
    }
  }
  const normal = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normal).serialize(bom, { sortLists: true, space: 2 }) + "\n";
}

import { dirname } from "node:path";
import manifest from "../deno.json" with { type: "json" };
import { VERSION } from "../src/wire/version.ts";
import { filesBelow } from "./tarball.ts";
import { ROOT, runDeno } from "./run_deno.ts";
import { bundle, json, licences, sourceMembers } from "./stdio_package.ts";

/** The version of Deno that the program is tested with. */
const DENO = "2.9.6";

/** Declarations of Node that the client is compiled with. */
const TYPES_OF_NODE = "24.10.1";
/** The compiler, as the lock has it. */
const COMPILER = "npm:typescript@6.0.3/bin/tsc";

/** What the npm registry is told. */
const MANIFEST = {
  name: "svc",
  version: VERSION,
  description: "Private, portable memory for AI agents that its user owns",
  license: "Apache-2.0",
  type: "module",
  bin: { svc: "bin/svc.mjs" },
  exports: {
    "./client": { types: "./client/types/src/client/mod.d.ts", default: "./client/mod.mjs" },
    "./package.json": "./package.json",
  },
  engines: { node: ">=20" },
  dependencies: { deno: DENO },
  publishConfig: { access: "public", provenance: true },
};

/** What a package.json says. */
export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Settings of Deno that the program needs to run; the rest is for who works on it. */
const RUNTIME = [
  "name",
  "version",
  "license",
  "exports",
  "importMap",
  "nodeModulesDir",
  "unstable",
];

function versionOf(name: string): string {
  const text = Deno.readTextFileSync(`${ROOT}import_map.json`);
  return /@([\d.]+)$/.exec(JSON.parse(text).imports[name])![1]!;
}

/** Starts the program with the Deno of this package, or with the one that runs this. */
const STARTER = `#!/usr/bin/env node
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(\`../program/\${path}\`, import.meta.url));

const args = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-code-cache",
  \`--config=\${at("deno.json")}\`,
  \`--lock=\${at("deno.lock")}\`,
  "--frozen",
  "--allow-all",
  at("main.ts"),
  ...process.argv.slice(2),
];

// A terminal signals the child itself; others signal this process alone.
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

function each(forward) {
  for (const name of SIGNALS) {
    try {
      forward(name);
    } catch {
      // This system has no such signal.
    }
  }
}

async function withThisDeno(Deno) {
  const child = new Deno.Command(Deno.execPath(), { args }).spawn();
  each((name) => Deno.addSignalListener(name, () => child.kill(name)));
  Deno.exit((await child.status).code);
}

function withDenoOfThisPackage() {
  // The binary itself: the command of the package deno forwards no signals.
  const deno = createRequire(import.meta.url)("deno/install_api.cjs").runInstall();
  const child = spawn(deno, args, { stdio: "inherit" });
  each((name) => process.on(name, () => child.kill(name)));
  child.on("error", (error) => {
    console.error(\`Deno cannot be started: \${error.message}\`);
    process.exit(71);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

if (globalThis.Deno === undefined) withDenoOfThisPackage();
else await withThisDeno(globalThis.Deno);
`;

/** What is published: the lists of \`deno.json\`, and what makes a start reproducible. */
async function published(): Promise<string[]> {
  const { include, exclude } = manifest.publish;
  const left = exclude.map((pattern) => pattern.replace("**/*", ""));
  const found: string[] = [];
  for (const path of [...include, "deno.lock", "import_map.json", "package.json"]) {
    if (path === "deno.json") continue;
    const { isDirectory } = await Deno.stat(`${ROOT}${path}`);
    const files = isDirectory ? await filesBelow(`${ROOT}${path}`) : [""];
    found.push(...files.map((file) => file === "" ? path : `${path}/${file}`));
  }
  return found.filter((path) => !left.some((end) => path.endsWith(end)));
}

/** Declarations of the client's modules, for TypeScript in Node. */
async function writeTypes(folder: string): Promise<void> {
  const work = await Deno.makeTempDir();
  try {
    for (const path of ["src", "deno.json"]) await copy(`${ROOT}${path}`, `${work}/in/${path}`);
    const names = ["@noble/ed25519", "@noble/hashes", "@scure/base"];
    const dependencies = Object.fromEntries(names.map((name) => [name, versionOf(name)]));
    const packages = json({ dependencies: { ...dependencies, "@types/node": TYPES_OF_NODE } });
    await Deno.writeTextFile(`${work}/package.json`, packages);
    await runDeno(["install", "--quiet", "--no-lock", "--node-modules-dir=auto"], {}, work);
    const options = {
      ...{ target: "es2024", module: "nodenext", lib: ["esnext", "dom", "dom.iterable"] },
      ...{ strict: true, skipLibCheck: true, resolveJsonModule: true, types: ["node"] },
      ...{ declaration: true, emitDeclarationOnly: true, allowImportingTsExtensions: true },
      ...{ rewriteRelativeImportExtensions: true, rootDir: "in", outDir: folder },
    };
    const project = { compilerOptions: options, files: ["in/src/client/mod.ts"] };
    await Deno.writeTextFile(`${work}/tsconfig.json`, JSON.stringify(project));
    await runDeno(["run", "-A", "--lock=deno.lock", "--frozen", COMPILER, "-p", work]);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  for (const path of await filesBelow(folder)) {
    const text = await Deno.readTextFile(`${folder}/${path}`);
    const changed = text.replaceAll(/(from "|import\(")(\.[^"]+)\.ts"/g, '$1$2.js"');
    await Deno.writeTextFile(`${folder}/${path}`, changed);
  }
}

async function copy(from: string, to: string): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  for (const path of isDirectory ? await filesBelow(from) : [""]) {
    const target = path === "" ? to : `${to}/${path}`;
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.copyFile(path === "" ? from : `${from}/${path}`, target);
  }
}

/** Files of the package that can be started. */
export const EXECUTABLES = ["bin/svc.mjs"];

/**
 * Makes the folder of the package `svc`: the whole program, and its client for Node.
 *
 * @param repository Address of the repository, without `.git`.
 */
export async function buildProgram(folder: string, repository?: string): Promise<void> {
  const program = `${folder}/program`;
  for (const path of await published()) {
    const target = /^[A-Z]+(\.md)?$/.test(path) ? folder : program;
    await copy(`${ROOT}${path}`, `${target}/${path}`);
  }
  const runtime = Object.entries(manifest).filter(([name]) => RUNTIME.includes(name));
  await Deno.writeTextFile(`${program}/deno.json`, json(Object.fromEntries(runtime)));
  await Deno.writeTextFile(
    `${folder}/package.json`,
    json({ ...MANIFEST, ...sourceMembers(repository) }),
  );
  await Deno.mkdir(`${folder}/bin`, { recursive: true });
  await Deno.writeTextFile(`${folder}/bin/svc.mjs`, STARTER);
  await Deno.mkdir(`${folder}/client`, { recursive: true });
  const made = await bundle("src/client/mod.ts", `${folder}/client/mod.mjs`);
  await writeTypes(`${folder}/client/types`);
  await Deno.writeTextFile(`${folder}/client/THIRD_PARTY_LICENSES`, await licences(made));
}

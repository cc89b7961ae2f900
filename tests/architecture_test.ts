import { deepStrictEqual, ok } from "node:assert/strict";
import { type ModuleGraph, moduleGraph, needsOf } from "./module_graph.ts";

/** What plugins may import besides themselves. */
const FOR_PLUGINS = [
  "plugins/shared/",
  "src/interfaces/",
  // Those that keep files share the wrapper with the relayer.
  "src/storage/sqlite/",
  "src/wire/body/",
  "src/wire/keys.ts",
  "src/wire/net_entry.ts",
  "src/wire/networks.ts",
  "src/errors.ts",
];

/**
 * Which of our modules a room or file may import besides those of its own room; npm and node
 * modules are free. The longest name that fits a file rules it.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "src/errors.ts": [],
  "src/age_keys.ts": [],
  "src/bounded_map.ts": [],
  "src/close_enough.ts": [],
  "src/deadline.ts": [],
  "src/key_lock.ts": [],
  "src/threads.ts": [],
  "src/tracing.ts": [],
  "src/suggestion.ts": [],
  "src/replace_file.ts": [],
  "src/stable_path.ts": [],
  "src/home_folder.ts": [],
  "src/printable.ts": [],
  "src/log.ts": ["src/errors.ts", "src/printable.ts"],
  "src/wire/": ["src/errors.ts", "deno.json"],
  "src/interfaces/": [
    "src/wire/version.ts",
    "src/wire/limits.ts",
    "src/wire/keys.ts",
    "src/wire/networks.ts",
    "src/errors.ts",
  ],
  "src/importers/": ["src/wire/", "src/errors.ts"],
  "src/client/": ["src/wire/", "src/errors.ts", "src/home_folder.ts"],
  "src/http1/": [],
  "src/storage/": ["src/interfaces/", "src/errors.ts"],
  "src/sealing/": ["src/storage/", "src/interfaces/", "src/errors.ts"],
  "src/index/": ["src/interfaces/", "src/errors.ts"],
  "src/secrets/": [],
  "src/jobs/": ["src/storage/", "src/interfaces/", "src/errors.ts", "src/log.ts"],
  "src/memory/": [
    "src/secrets/",
    "src/close_enough.ts",
    "src/jobs/",
    "src/index/",
    "src/storage/",
    "src/interfaces/",
    "src/errors.ts",
    "src/log.ts",
  ],
  "src/http/": [
    "src/http1/",
    "src/memory/",
    "src/jobs/",
    "src/storage/",
    "src/wire/",
    "src/interfaces/",
    "src/errors.ts",
    "src/log.ts",
  ],
  "src/sponsor/": ["src/http/", "src/http1/", "src/wire/", "src/interfaces/", "src/errors.ts"],
  "src/mcp/": [
    "src/close_enough.ts",
    "src/suggestion.ts",
    "src/sponsor/",
    "src/client/",
    "src/http1/",
    "src/wire/",
    "src/errors.ts",
    "src/log.ts",
  ],
  "src/relayer.ts": [
    "src/embed/",
    "src/sponsor/",
    "src/http/",
    "src/memory/",
    "src/index/",
    "src/jobs/",
    "src/sealing/",
    "src/storage/",
    "src/http1/",
    "src/wire/",
    "src/interfaces/",
    "src/errors.ts",
    "src/log.ts",
  ],
  // `svc model` fetches what the plugin reads.
  "src/program/": ["src/", "plugins/built_in.ts", "plugins/onnx/models/"],
  "src/embed/": [
    "src/wire/keys.ts",
    "src/client/",
    "src/jobs/",
    "src/sealing/",
    "src/storage/",
    "src/http1/",
    "src/interfaces/",
    "src/errors.ts",
    "src/log.ts",
  ],
  "plugins/": FOR_PLUGINS,
  "plugins/built_in.ts": ["plugins/", "src/interfaces/"],
  "plugins/sui/": [...FOR_PLUGINS, "plugins/sui/chain/"],
  // A page in a browser: nothing of the relayer, and nothing that only Deno has.
  "web/src/": [
    "src/client/",
    "src/importers/",
    // Its transactions are those of the plugin; only pages of accounts on a chain load them.
    "plugins/sui/chain/account_object.ts",
    "plugins/sui/accounts/transactions.ts",
    "src/wire/",
    "src/close_enough.ts",
    "src/errors.ts",
  ],
  "cli/": [
    "src/age_keys.ts",
    "src/close_enough.ts",
    "src/client/",
    "src/importers/",
    "src/wire/",
    "src/suggestion.ts",
    "src/stable_path.ts",
    "src/home_folder.ts",
    "src/printable.ts",
    "src/errors.ts",
    "src/log.ts",
  ],
  "testing/": ["src/interfaces/", "src/errors.ts"],
  "build/": ["src/", "plugins/", "cli/", "deno.json"],
  "mod.ts": ["src/"],
  "main.ts": ["src/", "cli/"],
};

/** Only these read the environment or the arguments. */
const READS_ENVIRONMENT = ["main.ts", "cli/svc_mcp.ts"];

const ROOT = new URL("../", import.meta.url);

/** Folders of the product; `main.ts` and `mod.ts` besides. */
const PRODUCT = ["src/", "plugins/", "cli/", "web/src/", "testing/", "build/"];

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}${name}`;
    if (isDirectory) yield* sources(`${path}/`);
    else if (/\.tsx?$/.test(name)) yield path;
  }
}

async function productFiles(): Promise<string[]> {
  const files = ["main.ts", "mod.ts"];
  for (const folder of PRODUCT) {
    for await (const file of sources(folder)) files.push(file);
  }
  return files;
}

let read: Promise<ModuleGraph> | undefined;
const graph = async (): Promise<ModuleGraph> =>
  await (read ??= moduleGraph(ROOT, await productFiles()));

/** What each file of the product imports of this repository, also for its types alone. */
async function edges(): Promise<Edges> {
  const files = [...await graph()].map(([file, imports]) => {
    const ours = imports.filter(({ own }) => own).map(({ to }) => to);
    return [file, new Set(ours)] as const;
  });
  return new Map(files);
}

/** The room of a file: a folder of `src`, a plugin, or another folder of the root. */
function roomOf(file: string): string {
  const deep = file.startsWith("plugins/sui/") ? 3 : /^(src|plugins)\//.test(file) ? 2 : 1;
  return file.split("/").slice(0, deep).join("/");
}

/** Sets of nodes that reach each other, each of them sorted and joined. */
function circlesOf(graph: Edges): string[] {
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set<string>(graph.get(start));
    for (const node of reached) for (const next of graph.get(node) ?? []) reached.add(next);
    return reached;
  };
  const reach = new Map([...graph.keys()].map((node) => [node, reachedFrom(node)]));
  const circles = new Set<string>();
  for (const [node, reached] of reach) {
    const circle = [...reached].filter((other) => other === node || reach.get(other)?.has(node));
    if (reached.has(node)) circles.add(circle.sort().join(" "));
  }
  return [...circles].sort();
}

/** What everybody may import: it imports nothing itself. */
const EVERYWHERE = [
  "src/bounded_map.ts",
  "src/deadline.ts",
  "src/key_lock.ts",
  "src/later.ts",
  "src/replace_file.ts",
  "src/threads.ts",
  "src/tracing.ts",
];

const fits = (key: string, file: string): boolean =>
  key.endsWith("/") ? file.startsWith(key) : file === key;

function mayImport(from: string, to: string): boolean {
  const [rule = ""] = Object.keys(MAY_IMPORT).filter((key) => fits(key, from))
    .sort((a, b) => b.length - a.length);
  return roomOf(from) === roomOf(to) || EVERYWHERE.includes(to) ||
    MAY_IMPORT[rule]?.some((key) => fits(key, to)) === true;
}

Deno.test("imports follow the dependency rules", async () => {
  const bad: string[] = [];
  for (const [from, targets] of await edges()) {
    for (const to of targets) if (!mayImport(from, to)) bad.push(`${from} -> ${to}`);
  }
  deepStrictEqual(bad, []);
});

Deno.test("no file imports itself by others", async () => {
  deepStrictEqual(circlesOf(await edges()), []);
});

Deno.test("no room imports itself by others", async () => {
  const rooms = new Map<string, Set<string>>();
  for (const [from, targets] of await edges()) {
    const room = roomOf(from);
    const others = [...targets].map(roomOf).filter((other) => other !== room);
    rooms.set(room, new Set([...rooms.get(room) ?? [], ...others]));
  }
  deepStrictEqual(circlesOf(rooms), []);
});

/** Names of a folder's files and folders, as the architecture page writes them. */
async function entriesOf(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    names.push(isDirectory ? `${name}/` : name);
  }
  return names.sort();
}

Deno.test("the architecture page has one line for each room and each plugin", async () => {
  const page = await Deno.readTextFile(new URL("docs/architecture.md", ROOT));
  const [, layout = ""] = page.split("```");
  for (const folder of ["src/", "plugins/"]) {
    const [, part = ""] = layout.split(`\n${folder}\n`);
    const listed = part.split(/\n(?=\S)/)[0]!.matchAll(/^ {2}([\w.]+\/?) +\S/gm);
    deepStrictEqual([...listed].map(([, name]) => name!).sort(), await entriesOf(folder));
  }
});

Deno.test("no product file names a path under tests/", async () => {
  const bad: string[] = [];
  for (const file of await productFiles()) {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    if (text.includes("tests/")) bad.push(file);
  }
  deepStrictEqual(bad, []);
});

Deno.test("SQLite is opened in one place", async () => {
  const users: string[] = [];
  for (const file of await productFiles()) {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    if (text.includes('"node:sqlite"')) users.push(file);
  }
  deepStrictEqual(users, ["src/storage/sqlite/sqlite_file.ts"]);
});

Deno.test("the programs alone read the environment and the arguments", async () => {
  const readers: string[] = [];
  for (const file of await productFiles()) {
    if (file.startsWith("build/")) continue; // Run by hand, never part of the program.
    const text = await Deno.readTextFile(new URL(file, ROOT));
    if (/\bDeno\.(env|args)\b|\bprocess\.(env|argv)\b/.test(text)) readers.push(file);
  }
  deepStrictEqual(readers, READS_ENVIRONMENT);
});

Deno.test("no product file has more than 400 lines", async () => {
  const long: string[] = [];
  for (const file of await productFiles()) {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    if (text.split("\n").length - 1 > 400) long.push(file);
  }
  deepStrictEqual(long, []);
});

Deno.test("no product folder has more than 20 files of its own", async () => {
  const counts = new Map<string, number>();
  for (const file of await productFiles()) {
    const folder = file.slice(0, file.lastIndexOf("/") + 1);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  deepStrictEqual([...counts].filter(([, count]) => count > 20), []);
});

Deno.test("no product file is called by what it is instead of what it does", async () => {
  const bad = (await productFiles()).filter((file) =>
    /(^|\/)(utils?|helpers?|types|manager|service|common_utils)\.ts$/.test(file)
  );
  deepStrictEqual(bad, []);
});

Deno.test("browsers can load the client", async () => {
  const needed = [...needsOf(await graph(), "src/client/mod.ts")];
  ok(needed.length > 10, "the module graph was read");
  deepStrictEqual(needed.filter((specifier) => specifier.startsWith("node:")), []);
});

Deno.test("neither a start nor remember and recall fetch the packages of install", async () => {
  for (const entry of ["main.ts", "cli/mod.ts"]) {
    const needed = [...needsOf(await graph(), entry)];
    ok(needed.length > 10, "the module graph was read");
    deepStrictEqual(needed.filter((name) => /jsonc-parser|smol-toml|cli\/install/.test(name)), []);
  }
  ok([...needsOf(await graph(), "cli/svc_mcp.ts")].some((name) => name.includes("jsonc-parser")));
});

Deno.test("neither a start nor a command fetches the packages of a chain", async () => {
  for (const entry of ["main.ts", "mod.ts", "cli/mod.ts", "plugins/local/mod.ts"]) {
    const needed = [...needsOf(await graph(), entry)];
    ok(needed.length > 10, "the module graph was read");
    deepStrictEqual(needed.filter((name) => /@mysten|@protobuf-ts/.test(name)), []);
  }
  ok(
    [...needsOf(await graph(), "plugins/sui/accounts/mod.ts")].some((name) =>
      name.includes("@mysten/sui")
    ),
  );
});

Deno.test("neither a start nor a command fetches the engine of models in files", async () => {
  const heavy = /onnxruntime|@huggingface/;
  for (const entry of ["main.ts", "mod.ts", "cli/mod.ts", "src/program/model/command.ts"]) {
    const needed = [...needsOf(await graph(), entry)];
    ok(needed.length > 5, "the module graph was read");
    deepStrictEqual(needed.filter((name) => heavy.test(name)), []);
  }
  ok([...needsOf(await graph(), "plugins/onnx/worker.ts")].some((name) => heavy.test(name)));
});

Deno.test("the settings of the built-in plugins are known without what does their work", async () => {
  const modules = await graph();
  const needed = [...needsOf(modules, "plugins/built_in.ts")];
  ok(needed.length > 20, "the module graph was read");
  // Of packages, nothing but the hash of addresses.
  const packages = needed.filter((name) => !modules.has(name));
  deepStrictEqual(packages.filter((name) => !/^@noble\/hashes|^node:url$/.test(name)), []);
  deepStrictEqual(needed.filter((name) => /worker|\.json$/.test(name)), []);
  const files = needed.filter((name) => name.startsWith("plugins/"));
  const light = /(^plugins\/built_in|\/(plugin|settings|networks|net_entry))\.ts$/;
  deepStrictEqual(files.filter((file) => !light.test(file)), []);
});

Deno.test("the lock has each version of a package once", async () => {
  // With peers of two versions it would have copies, which an empty package cache never gets.
  const lock = JSON.parse(await Deno.readTextFile(new URL("deno.lock", ROOT)));
  const versions = Object.keys(lock.npm).map((name) => name.replace(/(.)_.*$/, "$1"));
  const twice = versions.filter((name, i) => versions.indexOf(name) !== i);
  deepStrictEqual(twice, []);
});

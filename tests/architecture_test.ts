import { deepStrictEqual, ok } from "node:assert/strict";

/** Which of our modules a folder or file may import; npm and node modules are free. */
const MAY_IMPORT: readonly (readonly [from: string, to: readonly string[]])[] = [
  ["src/errors.ts", []],
  ["src/log.ts", ["src/errors.ts"]],
  ["src/wire/", ["src/wire/", "src/errors.ts", "deno.json"]],
  ["src/interfaces/", ["src/interfaces/", "src/wire/version.ts", "src/errors.ts"]],
  ["src/client/", ["src/client/", "src/wire/", "src/errors.ts"]],
  ["src/http1/", ["src/http1/"]],
  ["src/storage/", ["src/storage/", "src/interfaces/", "src/errors.ts"]],
  ["src/sealing/", ["src/sealing/", "src/interfaces/", "src/errors.ts"]],
  ["src/index/", ["src/index/", "src/interfaces/", "src/errors.ts"]],
  ["src/jobs/", ["src/jobs/", "src/storage/", "src/interfaces/", "src/errors.ts", "src/log.ts"]],
  ["src/memory/", [
    "src/memory/",
    "src/jobs/",
    "src/index/",
    "src/storage/",
    "src/interfaces/",
    "src/errors.ts",
    "src/log.ts",
  ]],
  ["src/http/", [
    "src/http/",
    "src/memory/",
    "src/jobs/",
    "src/wire/",
    "src/interfaces/",
    "src/errors.ts",
    "src/log.ts",
  ]],
  ["src/sponsor/", [
    "src/sponsor/",
    "src/http/",
    "src/http1/",
    "src/wire/",
    "src/interfaces/",
    "src/errors.ts",
  ]],
  ["src/mcp/", [
    "src/mcp/",
    "src/sponsor/",
    "src/client/",
    "src/http1/",
    "src/wire/",
    "src/errors.ts",
    "src/log.ts",
  ]],
  ["src/relayer.ts", [
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
  ]],
  ["src/program/", ["src/"]],
  ["src/embed/", ["src/"]],
  ["plugins/", [
    "plugins/",
    "src/interfaces/",
    // Those that keep files share the wrapper with the relayer.
    "src/storage/sqlite/",
    "src/wire/body/",
    "src/wire/keys.ts",
    "src/wire/networks.ts",
    "src/errors.ts",
  ]],
  // A page in a browser: nothing of the relayer, and nothing that only Deno has.
  ["web/src/", [
    "web/src/",
    "src/client/",
    // Its transactions are those of the plugin; only pages of accounts on a chain load them.
    "plugins/sui/chain/account_object.ts",
    "plugins/sui/accounts/transactions.ts",
    "src/wire/",
    "src/errors.ts",
  ]],
  ["cli/", ["cli/", "src/client/", "src/wire/", "src/errors.ts", "src/log.ts"]],
  ["testing/", ["testing/", "src/interfaces/", "src/errors.ts"]],
  ["mod.ts", ["src/"]],
  ["main.ts", ["src/", "cli/"]],
];

/** Only these read the environment or the arguments. */
const READS_ENVIRONMENT = ["main.ts", "cli/svc_mcp.ts"];

const ROOT = new URL("../", import.meta.url);
const ENTRIES = [
  "main.ts",
  "mod.ts",
  "src/client/mod.ts",
  "src/mcp/mod.ts",
  "cli/mod.ts",
  "cli/svc_mcp.ts",
  "plugins/sui/sponsors/enoki/mod.ts",
  "plugins/sui/sponsors/gas_station/mod.ts",
  "plugins/local/mod.ts",
  "plugins/lancedb/mod.ts",
  "plugins/memory/mod.ts",
  "plugins/ollama/mod.ts",
  "plugins/openai/mod.ts",
  "plugins/sui/sponsors/enoki/mod.ts",
  "plugins/sui/sponsors/gas_station/mod.ts",
  "plugins/sui/seal/mod.ts",
  "plugins/sui/seal/worker.ts",
  "plugins/sui/accounts/mod.ts",
  "plugins/sui/chain/contract/publisher.ts",
  "plugins/sui/accounts/wallet.ts",
  "plugins/use_lite/mod.ts",
  "plugins/sui/walrus/mod.ts",
  "plugins/sui/walrus/upload/encoding/encode_worker.ts",
  "plugins/use_lite/worker.ts",
  "testing/mod.ts",
  "web/src/main.tsx",
  "web/src/chain/main.ts",
];

interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier: string };
      readonly type?: { readonly specifier: string };
    }[];
  }[];
}

async function graphOf(entry: string): Promise<Graph> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", new URL(entry, ROOT).href],
    stderr: "null",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)) as Graph;
}

async function edges(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const entry of ENTRIES) {
    const { modules } = await graphOf(entry);
    for (const { specifier, dependencies = [] } of modules) {
      if (!specifier.startsWith(ROOT.href)) continue;
      const from = specifier.slice(ROOT.href.length);
      const targets = found.get(from) ?? new Set<string>();
      found.set(from, targets);
      for (const { code, type } of dependencies) {
        for (const target of [code?.specifier, type?.specifier]) {
          if (target?.startsWith(ROOT.href)) targets.add(target.slice(ROOT.href.length));
        }
      }
    }
  }
  return found;
}

function rule(from: string): readonly string[] | undefined {
  // Single files first, then the longest folder.
  const matches = MAY_IMPORT.filter(([key]) =>
    key.endsWith("/") ? from.startsWith(key) : from === key
  );
  return matches.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

Deno.test("imports follow the dependency rules", async () => {
  const graph = await edges();
  ok(graph.size > 100, "the module graph was read");
  const bad: string[] = [];
  for (const [from, targets] of graph) {
    const allowed = rule(from);
    for (const to of targets) {
      if (!allowed?.some((key) => key.endsWith("/") ? to.startsWith(key) : to === key)) {
        bad.push(`${from} -> ${to}`);
      }
    }
  }
  deepStrictEqual(bad, []);
});

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}${name}`;
    if (isDirectory) yield* sources(`${path}/`);
    else if (/\.tsx?$/.test(name)) yield path;
  }
}

async function productFiles(): Promise<string[]> {
  const files = ["main.ts", "mod.ts"];
  for (const folder of ["src/", "plugins/", "cli/", "web/src/"]) {
    for await (const file of sources(folder)) files.push(file);
  }
  return files;
}

Deno.test("the programs alone read the environment and the arguments", async () => {
  const readers: string[] = [];
  for (const file of await productFiles()) {
    if (/build_\w+\.ts$/.test(file)) continue; // Run by hand, never part of the program.
    const text = await Deno.readTextFile(new URL(file, ROOT));
    if (/\bDeno\.(env|args)\b|\bprocess\.(env|argv)\b/.test(text)) readers.push(file);
  }
  deepStrictEqual(readers, READS_ENVIRONMENT);
});

Deno.test("no product file has more than 400 lines, and the median is at most 120", async () => {
  const sizes: [number, string][] = [];
  for (const file of await productFiles()) {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    sizes.push([text.split("\n").length - 1, file]);
  }
  sizes.sort(([a], [b]) => a - b);
  deepStrictEqual(sizes.filter(([lines]) => lines > 400), []);
  const median = sizes[Math.floor(sizes.length / 2)]?.[0] ?? 0;
  ok(median <= 120, `the median is ${median}`);
});

Deno.test("no product file is called by what it is instead of what it does", async () => {
  const bad = (await productFiles()).filter((file) =>
    /(^|\/)(utils?|helpers?|types|manager|service|common_utils)\.ts$/.test(file)
  );
  deepStrictEqual(bad, []);
});

/** Specifiers that running a module needs, also those it imports later; not those of types. */
async function needs(entry: string): Promise<Set<string>> {
  const { modules } = await graphOf(entry);
  const byName = new Map(modules.map((module) => [module.specifier, module]));
  const found = new Set<string>([new URL(entry, ROOT).href]);
  for (const specifier of found) {
    for (const { code } of byName.get(specifier)?.dependencies ?? []) {
      if (code !== undefined) found.add(code.specifier);
    }
  }
  return found;
}

Deno.test("browsers can load the client", async () => {
  const needed = [...await needs("src/client/mod.ts")];
  ok(needed.length > 10, "the module graph was read");
  deepStrictEqual(needed.filter((specifier) => specifier.startsWith("node:")), []);
});

Deno.test("neither a start nor remember and recall fetch the packages of install", async () => {
  for (const entry of ["main.ts", "cli/mod.ts"]) {
    const needed = [...await needs(entry)];
    ok(needed.length > 10, "the module graph was read");
    deepStrictEqual(needed.filter((name) => /jsonc-parser|smol-toml|cli\/install/.test(name)), []);
  }
  ok([...await needs("cli/svc_mcp.ts")].some((name) => name.includes("jsonc-parser")));
});

Deno.test("neither a start nor a command fetches the packages of a chain", async () => {
  for (const entry of ["main.ts", "mod.ts", "cli/mod.ts", "plugins/local/mod.ts"]) {
    const needed = [...await needs(entry)];
    ok(needed.length > 10, "the module graph was read");
    deepStrictEqual(needed.filter((name) => /@mysten|@protobuf-ts/.test(name)), []);
  }
  ok([...await needs("plugins/sui/accounts/mod.ts")].some((name) => name.includes("@mysten/sui")));
});

Deno.test("the lock has each version of a package once", async () => {
  // With peers of two versions it would have copies, which an empty package cache never gets.
  const lock = JSON.parse(await Deno.readTextFile(new URL("deno.lock", ROOT)));
  const versions = Object.keys(lock.npm).map((name) => name.replace(/(.)_.*$/, "$1"));
  const twice = versions.filter((name, i) => versions.indexOf(name) !== i);
  deepStrictEqual(twice, []);
});

import { bundleStdio, compile } from "../../build/stdio_package.ts";
import { denoPermissions } from "../../cli/install/launch.ts";
import { type PackageStart, packageStart } from "./stdio.ts";

/** A way in which the package is shipped. */
export interface Variant {
  /** Name for people; says why it is ignored. */
  readonly name: string;
  /** Whether this machine cannot run it. */
  readonly ignore: boolean;
  /** How it is started with a home folder, for a relayer; without a browser. */
  readonly start: (home: string, relayer: string) => Promise<PackageStart>;
}

const folder = Deno.makeTempDirSync({ prefix: "svc-package-" });
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

/** Runs it once, when it is wanted. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

/** Makes the bundle; answers its path. */
export const bundled: () => Promise<string> = once(async () => {
  const path = `${folder}/svc-mcp.mjs`;
  await bundleStdio(path);
  return path;
});

const compiled = once(async () => {
  const path = `${folder}/svc-mcp`;
  await compile(await bundled(), path);
  return path;
});

/** The permissions that `install` writes for a home folder. */
export function permissionsFor(home: string, relayer: string): string[] {
  return denoPermissions({
    relayers: [relayer],
    credentialsPath: `${home}/.svc/credentials.json`,
    env: {},
  });
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.isFile, () => false);
}

async function findNode(): Promise<string | undefined> {
  for (const place of (Deno.env.get("PATH") ?? "").split(":")) {
    if (!await isFile(`${place}/node`)) continue;
    const { stdout } = await new Deno.Command(`${place}/node`, { args: ["--version"] }).output();
    const major = /^v(\d+)\./.exec(new TextDecoder().decode(stdout))?.[1];
    if (Number(major) >= 20) return `${place}/node`;
  }
  return undefined;
}

/** Whether `deno compile` finds a base binary without fetching one. */
async function hasBaseBinary(): Promise<boolean> {
  const { build: { target }, env, version } = Deno;
  if (env.get("DENORT_BIN") !== undefined) return true;
  const cache = env.get("DENO_DIR") ?? `${env.get("HOME")}/.cache/deno`;
  return await isFile(`${cache}/dl/release/v${version.deno}/denort-${target}.zip`);
}

const node = await findNode();
const hasBase = await hasBaseBinary();

/** Every way in which the package is shipped. */
export const VARIANTS: readonly Variant[] = [
  {
    name: "source under Deno",
    ignore: false,
    start: (home, relayer) => {
      const start = packageStart(home);
      const args = start.args.flatMap((arg) =>
        arg === "-A" ? permissionsFor(home, relayer) : [arg]
      );
      return Promise.resolve({ ...start, args });
    },
  },
  {
    name: "bundle under Deno",
    ignore: false,
    start: async (home, relayer) => {
      const args = ["run", "--no-prompt", "--no-config", ...permissionsFor(home, relayer)];
      return { ...packageStart(home), args: [...args, await bundled()] };
    },
  },
  {
    name: node === undefined ? "bundle under Node (there is no Node 20)" : "bundle under Node",
    ignore: node === undefined,
    start: async (home) => ({
      ...packageStart(home),
      command: node ?? "",
      args: [await bundled()],
    }),
  },
  {
    name: hasBase ? "executable" : "executable (its base binary is not on this machine)",
    ignore: !hasBase,
    start: async (home) => ({ ...packageStart(home), command: await compiled(), args: [] }),
  },
];

import { strToU8, type Zippable, zipSync } from "fflate";
import { TOOL_DEFINITIONS, TOOL_NAMES } from "../src/wire/tool_definitions.ts";
import { VERSION } from "../src/wire/version.ts";
import { ROOT, runDeno } from "./run_deno.ts";
import { json } from "./stdio_package.ts";
import { filesBelow } from "./tarball.ts";

/** What the bundle calls its program. */
const ENTRY = "server/svc-mcp.mjs";
/** The time of every file in it: two builds give the same bytes, and ZIP knows no earlier year. */
const TIME = new Date(1980, 0, 1, 12);

/** What a host asks its user for. */
const SETTINGS = {
  relayer: {
    type: "string",
    title: "Relayer",
    description: "Address of your relayer; empty: the one you signed in to, else this computer",
    required: false,
    default: "",
  },
  dashboard: {
    type: "string",
    title: "Dashboard",
    description: "Address of its dashboard, to sign in at; empty: as for the relayer",
    required: false,
    default: "",
  },
  namespace: {
    type: "string",
    title: "Namespace",
    description: "Where memories live that nobody names a namespace for; empty: default",
    required: false,
    default: "",
  },
};

/** What a host that installs bundles is told (the manifest of MCPB 0.3). */
function manifest(repository: string | undefined): object {
  return {
    manifest_version: "0.3",
    name: "svc-mcp",
    display_name: "svc memory",
    version: VERSION,
    description: "Private, portable memory for AI agents, kept by your own relayer",
    long_description:
      "Saves what you ask it to remember and finds it again by meaning, on a relayer of " +
      "your own. Signs in with your browser: the key stays on this computer, and no configuration " +
      "holds it.",
    author: { name: "The svc authors", ...(repository === undefined ? {} : { url: repository }) },
    license: "Apache-2.0",
    ...(repository === undefined
      ? {}
      : { repository: { type: "git", url: `${repository}.git` }, homepage: repository }),
    server: {
      type: "node",
      entry_point: ENTRY,
      mcp_config: {
        command: "node",
        args: ["${__dirname}/" + ENTRY],
        env: {
          SVC_SERVER_URL: "${user_config.relayer}",
          SVC_WEB_URL: "${user_config.dashboard}",
          SVC_NAMESPACE: "${user_config.namespace}",
        },
      },
    },
    // Signing in and out are tools too, and which there are depends on the key.
    tools: TOOL_NAMES.map((name) => ({
      name: `svc_${name}`,
      description: TOOL_DEFINITIONS[name].description,
    })),
    tools_generated: true,
    keywords: ["memory", "notes", "private"],
    compatibility: { platforms: ["darwin", "linux", "win32"], runtimes: { node: ">=20" } },
    user_config: SETTINGS,
  };
}

/**
 * Makes a bundle (`.mcpb`) of the stdio package, which hosts install by a click. Its manifest is
 * checked by the format's own tool.
 *
 * @param folder The stdio package, as `buildPackage` makes it.
 * @param output Path of the bundle.
 * @param repository Address of the repository, without `.git`.
 * @throws {Error} with what the tool says of a manifest that is not valid.
 */
export async function writeMcpBundle(
  folder: string,
  output: string,
  repository?: string,
): Promise<void> {
  const work = await Deno.makeTempDir();
  const text = json(manifest(repository));
  try {
    await Deno.writeTextFile(`${work}/manifest.json`, text);
    const lock = [`--lock=${ROOT}deno.lock`, "--frozen"];
    const tool = "npm:@anthropic-ai/mcpb@2.1.2";
    await runDeno(["run", "--quiet", ...lock, "-A", tool, "validate", `${work}/manifest.json`]);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  const files: Zippable = { "manifest.json": strToU8(text) };
  for (const path of await filesBelow(folder)) {
    // A package for npm is described by a package.json, which nothing here reads.
    if (path === "package.json") continue;
    files[path === "svc-mcp.mjs" ? ENTRY : path] = await Deno.readFile(`${folder}/${path}`);
  }
  const attributes = { os: 3, attrs: 0o644 << 16, level: 9, mtime: TIME } as const;
  await Deno.writeFile(output, zipSync(files, attributes));
}

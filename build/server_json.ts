import { VERSION } from "../src/wire/version.ts";

/** Of 2025-12-11, the newest that the registry of MCP has. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** Variables that somebody who starts the package may want to set. */
const VARIABLES = [
  {
    name: "SVC_SERVER_URL",
    description: "Address of your relayer; the one you signed in to, else this computer",
  },
  { name: "SVC_WEB_URL", description: "Address of its dashboard, to sign in at" },
  { name: "SVC_NAMESPACE", description: "Namespace of calls that name none" },
].map((variable) => ({ ...variable, format: "string", isRequired: false, isSecret: false }));

/**
 * What the registry of MCP calls the server: the owner of the repository proves that it is theirs.
 *
 * @param repository Address of a repository at GitHub, without `.git`.
 * @returns `undefined` for another address: the registry has no proof for it.
 */
export function registryName(repository: string | undefined): string | undefined {
  const owner = /^https:\/\/github\.com\/([\w-]+)\/[\w.-]+$/.exec(repository ?? "")?.[1];
  return owner === undefined ? undefined : `io.github.${owner}/svc-mcp`;
}

/**
 * The `server.json` that the registry of MCP is given: the package at npm, and the bundle of the
 * release.
 *
 * @param name What {@linkcode registryName} answers.
 * @param repository Address of the repository, without `.git`.
 * @param bundle The `.mcpb` of the release: its file's name, and its SHA-256 in hex.
 */
export function serverJson(
  name: string,
  repository: string,
  bundle: { readonly file: string; readonly sha256: string },
): object {
  const transport = { type: "stdio" };
  return {
    $schema: SCHEMA,
    name,
    title: "svc memory",
    description: "Private, portable memory for AI agents, kept by a relayer of your own",
    version: VERSION,
    repository: { url: repository, source: "github" },
    websiteUrl: repository,
    packages: [
      {
        registryType: "npm",
        registryBaseUrl: "https://registry.npmjs.org",
        identifier: "svc-mcp",
        version: VERSION,
        runtimeHint: "npx",
        transport,
        environmentVariables: VARIABLES,
      },
      {
        registryType: "mcpb",
        identifier: `${repository}/releases/download/v${VERSION}/${bundle.file}`,
        version: VERSION,
        fileSha256: bundle.sha256,
        transport,
      },
    ],
  };
}

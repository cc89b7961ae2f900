import type { Role } from "../../interfaces/mod.ts";

/** A plugin that comes with the program. */
export interface BuiltIn {
  /** Module path from the root of the program. */
  readonly module: string;
  /** Roles it plays. */
  readonly roles: readonly Role[];
}

const LOCAL: readonly Role[] = ["accounts", "blobStore", "cipher", "vectorStore"];

/** Plugins of this build by name. */
export const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  local: { module: "plugins/local/mod.ts", roles: LOCAL },
  memory: { module: "plugins/memory/mod.ts", roles: [...LOCAL, "embedder"] },
  enoki: { module: "plugins/sui/sponsors/enoki/mod.ts", roles: ["sponsor"] },
  "gas-station": { module: "plugins/sui/sponsors/gas_station/mod.ts", roles: ["sponsor"] },
  lancedb: { module: "plugins/lancedb/mod.ts", roles: ["vectorStore"] },
  ollama: { module: "plugins/ollama/mod.ts", roles: ["embedder", "languageModel"] },
  seal: { module: "plugins/sui/seal/mod.ts", roles: ["cipher"] },
  openai: { module: "plugins/openai/mod.ts", roles: ["embedder", "languageModel"] },
  sui: { module: "plugins/sui/accounts/mod.ts", roles: ["accounts"] },
  walrus: { module: "plugins/sui/walrus/mod.ts", roles: ["blobStore"] },
  "use-lite": { module: "plugins/use_lite/mod.ts", roles: ["embedder"] },
};

/** The word that leaves a role empty, where a role may be empty. */
export const EMPTY: Readonly<Partial<Record<Role, string>>> = {
  languageModel: "none",
  sponsor: "off",
};

/** Whether a choice is a path or an import specifier, and not a name. */
export function isSpecifier(name: string): boolean {
  return /^(\.{0,2}\/|~\/|[A-Za-z]:\\|@[\w-]+\/|[a-z][a-z+.-]*:)/.test(name);
}

/** What is wrong with a role's choice, or nothing. */
export function choiceProblem(role: Role, env: string, name: string): string | undefined {
  if (name === EMPTY[role] || isSpecifier(name)) return undefined;
  if (BUILT_IN[name]?.roles.includes(role)) return undefined;
  const names = Object.keys(BUILT_IN).filter((known) => BUILT_IN[known]!.roles.includes(role));
  const empty = EMPTY[role];
  const known = [...(empty === undefined ? [] : [empty]), ...names].join(", ");
  return `${env} must be ${known}, a path or an import specifier of a plugin, got "${name}"`;
}

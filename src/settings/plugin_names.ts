import type { Role } from "../interfaces/mod.ts";

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
  memory: { module: "plugins/memory.ts", roles: [...LOCAL, "embedder"] },
  lancedb: { module: "plugins/lancedb/mod.ts", roles: ["vectorStore"] },
  ollama: { module: "plugins/ollama.ts", roles: ["embedder", "languageModel"] },
  openai: { module: "plugins/openai.ts", roles: ["embedder", "languageModel"] },
  walrus: { module: "plugins/walrus/mod.ts", roles: ["blobStore"] },
  sui: { module: "plugins/sui/mod.ts", roles: ["accounts"] },
  "use-lite": { module: "plugins/use_lite/mod.ts", roles: ["embedder"] },
};

/** Names the protocol knows and this build does not carry, by role. */
export const ABSENT: Readonly<Record<Role, readonly string[]>> = {
  accounts: [],
  blobStore: [],
  cipher: ["seal"],
  embedder: [],
  languageModel: [],
  sponsor: ["enoki", "gas-station"],
  vectorStore: [],
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
  if (ABSENT[role].includes(name)) return `${env}: ${name} is not part of this build`;
  const names = Object.keys(BUILT_IN).filter((known) => BUILT_IN[known]!.roles.includes(role));
  const empty = EMPTY[role];
  const known = [...(empty === undefined ? [] : [empty]), ...names].join(", ");
  return `${env} must be ${known}, a path or an import specifier of a plugin, got "${name}"`;
}

import type { Role } from "../../interfaces/mod.ts";
import type { Plugin } from "../../interfaces/plugin.ts";
import { BUILT_IN } from "../../../plugins/built_in.ts";

/** The word that leaves a role empty, where a role may be empty. */
export const EMPTY: Readonly<Partial<Record<Role, string>>> = {
  languageModel: "none",
  sponsor: "off",
};

export function builtIn(name: string): Plugin | undefined {
  return BUILT_IN.find((plugin) => plugin.name === name);
}

/** Whether a choice is a path or an import specifier, and not a name. */
function isSpecifier(name: string): boolean {
  return /^(\.{0,2}\/|~\/|[A-Za-z]:\\|@[\w-]+\/|[a-z][a-z+.-]*:)/.test(name);
}

/** What is wrong with a role's choice, or nothing. */
export function choiceProblem(role: Role, env: string, name: string): string | undefined {
  if (name === EMPTY[role] || isSpecifier(name)) return undefined;
  if (builtIn(name)?.roles[role] !== undefined) return undefined;
  const names = BUILT_IN.filter(({ roles }) => roles[role] !== undefined).map(({ name }) => name);
  const empty = EMPTY[role];
  const known = [...(empty === undefined ? [] : [empty]), ...names].join(", ");
  return `${env} must be ${known}, a path or an import specifier of a plugin, got "${name}"`;
}

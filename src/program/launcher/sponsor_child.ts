import type { Env } from "../../interfaces/fields.ts";
import { type Casting, pluginVariables } from "../plugins.ts";
import type { SponsorBoot } from "../../mcp/process.ts";

export interface Parted {
  readonly relayer: readonly Casting[];
  /** The sponsor: the sidecar's. */
  readonly sidecar: readonly Casting[];
  /** What the sidecar is told about it; absent without a sponsor. */
  readonly sponsor?: SponsorBoot;
}

/** Parts the plugins: who pays for transactions is opened by the sidecar, with its key. */
export function partPlugins(castings: readonly Casting[], env: Env): Parted {
  const relayer = castings.filter(({ role }) => role !== "sponsor");
  const sidecar = castings.filter(({ role }) => role === "sponsor");
  const [casting] = sidecar;
  if (casting === undefined) return { relayer, sidecar };
  const known: Record<string, string> = {};
  for (const name of pluginVariables(sidecar)) {
    const value = env[name];
    if (value) known[name] = value;
  }
  return { relayer, sidecar, sponsor: { name: casting.name, env: known } };
}

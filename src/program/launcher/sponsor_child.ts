import type { Env } from "../../interfaces/fields.ts";
import { type Casting, pluginVariables } from "../plugins.ts";
import { OUTSIDE_PLUGINS } from "../settings/outside_plugins.ts";
import { ALL_FIELDS } from "../settings/table.ts";
import type { SponsorBoot } from "../../mcp/process.ts";

/** Keys of sponsors, which no other process than the sidecar needs, whoever pays. */
const SPONSOR_KEYS = [OUTSIDE_PLUGINS.enokiApiKey.env, OUTSIDE_PLUGINS.sponsorPrivateKey.env];

/** The chosen plugins, by the process that opens them. */
export interface Parted {
  /** Those of the relayer. */
  readonly relayer: readonly Casting[];
  /** The sponsor: the sidecar's. */
  readonly sidecar: readonly Casting[];
  /** What the sidecar is told about it; absent without a sponsor. */
  readonly sponsor?: SponsorBoot;
  /** Variables that only the sponsor reads: the relayer must not have them. */
  readonly withheld: readonly string[];
}

/** Parts the plugins: who pays for transactions is opened by the sidecar, with its key. */
export function partPlugins(castings: readonly Casting[], env: Env): Parted {
  const relayer = castings.filter(({ role }) => role !== "sponsor");
  const sidecar = castings.filter(({ role }) => role === "sponsor");
  const variables = pluginVariables(sidecar);
  const outside = new Set<string>(Object.values(OUTSIDE_PLUGINS).map((field) => field.env));
  const shared = new Set([
    ...pluginVariables(relayer),
    ...ALL_FIELDS.map((field) => field.env).filter((name) => !outside.has(name)),
  ]);
  const withheld = [...variables, ...SPONSOR_KEYS].filter((name) => !shared.has(name));
  const [casting] = sidecar;
  if (casting === undefined) return { relayer, sidecar, withheld };
  const known: Record<string, string> = {};
  for (const name of variables) {
    const value = env[name];
    if (value) known[name] = value;
  }
  return { relayer, sidecar, withheld, sponsor: { name: casting.name, env: known } };
}

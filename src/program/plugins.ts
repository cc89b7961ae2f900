import { SvcError } from "../errors.ts";
import { type Env, inspectFields, readFields } from "../interfaces/fields.ts";
import type { Embedder, Role } from "../interfaces/mod.ts";
import {
  type Backend,
  type BackendSource,
  type Factory,
  type Permissions,
  type Plugin,
  pluginSource,
  type RoleContexts,
} from "../interfaces/plugin.ts";
import { BUILT_IN, EMPTY } from "./settings/plugin_names.ts";
import { ROLE_FIELDS } from "./settings/roles.ts";
import type { Settings } from "./settings/mod.ts";

/** A role and the plugin that plays it. */
export interface Casting {
  /** The role. */
  readonly role: Role;
  /** The choice, as configured. */
  readonly name: string;
  /** The plugin. */
  readonly plugin: Plugin;
}

/** Folder of the program's own modules. */
export const PROGRAM_ROOT: URL = new URL("../../", import.meta.url);

const ROLES = Object.keys(ROLE_FIELDS) as Role[];

function isPlugin(value: unknown): value is Plugin {
  return typeof value === "object" && value !== null && "roles" in value && "fields" in value &&
    typeof value.roles === "object" && typeof value.fields === "object";
}

function refused(role: Role, name: string, text: string, cause?: unknown): SvcError {
  return new SvcError("invalid_parameter", `${ROLE_FIELDS[role].env}=${name} ${text}`, { cause });
}

/** Why a module was not loaded, without the source and Deno's advice about flags. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error ? error.message.split("\n", 1)[0]! : "";
  return said === "" ? "" : `: ${said.split(", run again", 1)[0]}`;
}

/**
 * Loads the plugin of a role by name, path or import specifier. The specifier is computed on
 * purpose: a literal one would make every start fetch and load every plugin.
 *
 * @throws {SvcError} `invalid_parameter` with the setting, when there is no such plugin or it does
 * not play the role.
 */
export async function loadPlugin(role: Role, name: string): Promise<Plugin> {
  const builtIn = BUILT_IN[name];
  const specifier = builtIn === undefined ? name : new URL(builtIn.module, PROGRAM_ROOT).href;
  let module: { default?: unknown };
  try {
    module = await import(specifier);
  } catch (error) {
    throw refused(role, name, `cannot be loaded${reasonOf(error)}`, error);
  }
  const plugin = module.default;
  if (!isPlugin(plugin)) throw refused(role, name, "is no plugin: it lacks a definePlugin default");
  if (plugin.roles[role] === undefined) throw refused(role, name, `does not play ${role}`);
  return plugin;
}

/** The plugins of every role that is not empty, and why some cannot be had. */
export async function loadPlugins(
  settings: Settings,
): Promise<{ castings: readonly Casting[]; problems: readonly string[] }> {
  const castings: Casting[] = [];
  const problems: string[] = [];
  for (const role of ROLES) {
    const name = settings[role];
    if (name === EMPTY[role]) continue;
    try {
      castings.push({ role, name, plugin: await loadPlugin(role, name) });
    } catch (error) {
      problems.push(SvcError.from(error).message);
    }
  }
  return { castings, problems };
}

/** The variables the plugins read. */
export function pluginVariables(castings: readonly Casting[]): string[] {
  const fields = castings.flatMap(({ plugin }) => Object.values(plugin.fields));
  return [...new Set(fields.map((field) => field.env))];
}

/** What is wrong or odd about the plugins' own settings. */
export function inspectPlugins(
  castings: readonly Casting[],
  env: Env,
): { problems: string[]; warnings: string[] } {
  const readings = [...new Set(castings.map(({ plugin }) => plugin))]
    .map((plugin) => inspectFields(plugin.fields, env));
  return {
    problems: [...new Set(readings.flatMap(({ problems }) => problems))],
    warnings: [...new Set(readings.flatMap(({ warnings }) => warnings))],
  };
}

/** What the plugins must be allowed, all together. */
export function pluginPermissions(
  castings: readonly Casting[],
  env: Env,
  dataDir: string,
): Permissions[] {
  return castings.map(({ role, plugin }) =>
    plugin.permissions?.(role, inspectFields(plugin.fields, env).values, dataDir) ?? {}
  );
}

/**
 * Opens the backend of one role.
 *
 * @throws {SvcError} `invalid_parameter` with the setting at fault, also when a permission is missing.
 */
export async function openBackend<R extends Role>(
  role: R,
  { name, plugin }: Casting,
  env: Env,
  context: RoleContexts[R],
): Promise<Backend<R>> {
  const factories: { readonly [K in Role]?: Factory<K> } = pluginSource(
    plugin,
    readFields(plugin.fields, env),
  );
  const open = factories[role];
  if (open === undefined) throw refused(role, name, `does not play ${role}`);
  try {
    return await open(context);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      // Deno's text names the access; what it says about command line flags is no help here.
      const access = error.message.split(", run again", 1)[0];
      throw refused(role, name, `lacks a permission. ${access}`, error);
    }
    throw error instanceof SvcError ? error : refused(role, name, "failed to open", error);
  }
}

/**
 * What plays each role as configured, for `createRelayer`. Its factories report the setting at
 * fault.
 *
 * @param castings The plugins, where they are loaded already.
 * @throws {SvcError} `invalid_parameter` when a plugin cannot be had.
 */
export async function configuredSources(
  settings: Settings,
  env: Env,
  castings?: readonly Casting[],
): Promise<BackendSource[]> {
  const chosen = castings ?? await loadOrThrow(settings);
  return chosen.map((casting) => {
    const { role, plugin } = casting;
    const open = async (context: RoleContexts[Role]) => {
      const backend = await openBackend(role, casting, env, context as never);
      if (role === "embedder") checkDimensions(settings, (backend as Embedder).dimensions);
      return backend;
    };
    return { name: plugin.name, [role]: open };
  });
}

async function loadOrThrow(settings: Settings): Promise<readonly Casting[]> {
  const { castings, problems } = await loadPlugins(settings);
  if (problems.length > 0) throw new SvcError("invalid_parameter", problems.join("\n"));
  return castings;
}

function checkDimensions(settings: Settings, dimensions: number): void {
  const wanted = settings.embeddingDimensions;
  if (wanted === undefined || wanted === dimensions) return;
  const text =
    `SVC_EMBEDDING_DIMENSIONS is ${wanted}, but the embedder's vectors have ${dimensions}`;
  throw new SvcError("invalid_parameter", text);
}

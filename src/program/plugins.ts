import { invalid } from "./invalid.ts";
import { SvcError } from "../errors.ts";
import { type Env, inspectFields, readFields } from "../interfaces/fields.ts";
import type { Embedder, Role, Sponsor } from "../interfaces/mod.ts";
import type {
  Backend,
  BackendSource,
  Permissions,
  Plugin,
  RoleContexts,
} from "../interfaces/plugin.ts";
import { importModule } from "../later.ts";
import { errorFields, type Logger } from "../log.ts";
import type { SponsorBoot } from "../mcp/process.ts";
import { type Settings, withWholePaths } from "./settings/mod.ts";
import { builtIn, choiceProblem, EMPTY, variablesOf } from "./settings/plugin_settings.ts";
import { ROLE_FIELDS, ROLE_NAMES } from "./settings/roles.ts";

export interface Casting {
  readonly role: Role;
  readonly name: string;
  readonly plugin: Plugin;
}

/** Folder of the program's own modules. */
export const PROGRAM_ROOT: URL = new URL("../../", import.meta.url);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function isField(value: unknown): boolean {
  return isObject(value) && "env" in value && typeof value.env === "string" &&
    "doc" in value && typeof value.doc === "string" &&
    "parse" in value && typeof value.parse === "function";
}

function isPlugin(value: unknown): value is Plugin {
  return isObject(value) && "roles" in value && isObject(value.roles) &&
    "fields" in value && isObject(value.fields) && Object.values(value.fields).every(isField);
}

function refused(role: Role, name: string, text: string, cause?: unknown): SvcError {
  return invalid(`${ROLE_FIELDS[role].env}=${name} ${text}`, cause);
}

/** A line under a failure to fetch: a number and what led to the line before. */
const BEHIND = /^\s+\d+: (.+)$/;

/**
 * Why a module was not loaded, without the source and Deno's advice about flags: what failed, and
 * the last of the reasons behind it, such as a certificate of the npm registry that is not trusted.
 */
function reasonOf(error: unknown): string {
  const [first, ...rest] = error instanceof Error ? error.message.split("\n") : [""];
  const behind = rest.map((line) => BEHIND.exec(line)?.[1]).findLast((said) => said !== undefined);
  const said = [first!.split(", run again", 1)[0]!, ...(behind === undefined ? [] : [behind])];
  return first === "" ? "" : `: ${said.join(": ")}`;
}

async function importPlugin(role: Role, specifier: string): Promise<Plugin> {
  let module: { default?: unknown };
  try {
    module = await importModule(specifier);
  } catch (error) {
    throw refused(role, specifier, `cannot be loaded${reasonOf(error)}`, error);
  }
  if (isPlugin(module.default)) return module.default;
  throw refused(role, specifier, "is no plugin: it lacks a definePlugin default");
}

/**
 * The plugin of a role by name, path or import specifier.
 *
 * @throws {SvcError} `invalid_parameter` with the setting, when there is no such plugin or it does
 * not play the role.
 */
export async function loadPlugin(role: Role, name: string): Promise<Plugin> {
  const plugin = builtIn(name) ?? await importPlugin(role, name);
  if (plugin.roles[role] === undefined) throw refused(role, name, `does not play ${role}`);
  return plugin;
}

/**
 * The plugins of every role that is not empty, and why some cannot be had. Choices that
 * `readSettings` refuses are passed over.
 */
export async function loadPlugins(
  settings: Settings,
): Promise<{ castings: readonly Casting[]; problems: readonly string[] }> {
  const castings: Casting[] = [];
  const problems: string[] = [];
  for (const role of ROLE_NAMES) {
    const name = settings[role];
    const isRefused = choiceProblem(role, ROLE_FIELDS[role].env, name) !== undefined;
    if (name === EMPTY[role] || isRefused) continue;
    try {
      castings.push({ role, name, plugin: await loadPlugin(role, name) });
    } catch (error) {
      problems.push(SvcError.from(error).message);
    }
  }
  return { castings, problems };
}

export function pluginVariables(castings: readonly Casting[]): string[] {
  return [...variablesOf(castings.map(({ plugin }) => plugin))];
}

/**
 * What the plugins must be allowed, in the order of the castings.
 *
 * @throws {SvcError} `invalid_parameter` with the setting of a plugin that lacks what it needs.
 */
export function pluginPermissions(
  castings: readonly Casting[],
  env: Env,
  dataDir: string,
): Promise<Permissions[]> {
  return Promise.all(castings.map(async ({ role, name, plugin }) => {
    const { values } = inspectFields(plugin.fields, env);
    try {
      return await plugin.permissions?.(role, values, dataDir) ?? {};
    } catch (error) {
      throw failure(role, name, "cannot name its permissions", error);
    }
  }));
}

/** Why a plugin's own code did not do what it was asked to, with the setting that chose it. */
function failure(role: Role, name: string, text: string, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof Deno.errors.NotCapable) {
    // Deno's text names the access; what it says about command line flags is no help here.
    const access = error.message.split(", run again", 1)[0];
    return refused(role, name, `lacks a permission. ${access}`, error);
  }
  // A module it imports, or a package.
  const isMissing = error instanceof TypeError && "code" in error &&
    error.code === "ERR_MODULE_NOT_FOUND";
  return refused(role, name, isMissing ? `cannot be loaded${reasonOf(error)}` : text, error);
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
  const open = plugin.roles[role];
  if (open === undefined) throw refused(role, name, `does not play ${role}`);
  const settings = readFields(plugin.fields, env);
  try {
    return await open(settings, context);
  } catch (error) {
    throw failure(role, name, "failed to open", error);
  }
}

/**
 * Opens the sponsor in the sidecar's process, which is the only one that has its key.
 *
 * @throws {SvcError} `invalid_parameter` with the setting at fault; it is logged as well, since the
 * sidecar goes on without a sponsor.
 */
export async function openSponsor({ name, env }: SponsorBoot, logger: Logger): Promise<Sponsor> {
  try {
    const plugin = await loadPlugin("sponsor", name);
    return await openBackend("sponsor", { role: "sponsor", name, plugin }, env, {
      log: (level, message) => logger[level](message),
    });
  } catch (thrown) {
    const { message, cause } = SvcError.from(thrown);
    const { error } = errorFields(cause);
    logger.error("no transactions are sponsored", { reason: message, error });
    throw new SvcError("sponsor_upstream_error", undefined, { cause: thrown });
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
  const loaded = castings ? { castings, problems: [] } : await loadPlugins(settings);
  if (loaded.problems.length > 0) {
    throw invalid(loaded.problems.join("\n"));
  }
  return loaded.castings.map((casting) => {
    const { role, plugin } = casting;
    const open = async (context: RoleContexts[Role]) => {
      const paths = withWholePaths(env, settings);
      const backend = await openBackend(role, casting, paths, context as never);
      if (role === "embedder") checkDimensions(settings, (backend as Embedder).dimensions);
      return backend;
    };
    return { name: plugin.name, [role]: open };
  });
}

function checkDimensions(settings: Settings, dimensions: number): void {
  const wanted = settings.embeddingDimensions;
  if (wanted === undefined || wanted === dimensions) return;
  const text =
    `SVC_EMBEDDING_DIMENSIONS is ${wanted}, but the embedder's vectors have ${dimensions}`;
  throw invalid(text);
}

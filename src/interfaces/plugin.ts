import type { RoleContexts } from "./context.ts";
import { type Fields, readFields, type Values } from "./fields.ts";
import type { Backends, Role } from "./mod.ts";

export * from "./context.ts";
export * from "./fields.ts";

/** Entries of Deno's permission list; anything not named is denied. */
export interface Permissions {
  /** `host` or `host:port`. */
  readonly net?: readonly string[];
  /** Files and folders. */
  readonly read?: readonly string[];
  /** Files and folders. */
  readonly write?: readonly string[];
  /** Variable names. */
  readonly env?: readonly string[];
  /** Files of native code. */
  readonly ffi?: readonly string[];
  /** Kinds of system information. */
  readonly sys?: readonly string[];
}

/** What plays a role. */
export type Backend<R extends Role> = NonNullable<Backends[R]>;

/** Opens what plays a role. */
export type Factory<R extends Role> = (
  context: RoleContexts[R],
) => Promise<Backend<R>> | Backend<R>;

/**
 * Where a relayer takes backends from: for each role one that is open, or a factory that opens one.
 * The relayer disposes of what a factory opened for it; an open backend belongs to whoever made it.
 */
export type BackendSource =
  & {
    /**
     * Name of the plugin. What a factory's `sealer` sealed opens under the same name only; without
     * one, for every source without a name.
     */
    readonly name?: string | undefined;
  }
  & { readonly [R in Role]?: Backend<R> | Factory<R> | undefined };

/**
 * Backends that can be chosen by name in the configuration. The module that exports it is loaded to
 * read settings, to list permissions and to write documentation: what does the work, and the packages
 * it needs, is best imported by the factories.
 */
export interface Plugin<F extends Fields = Fields> {
  /** Name used in the configuration. */
  readonly name: string;
  /** Where it is described: an address, or a page in `docs/` of the program. */
  readonly docs?: string;
  /** Settings, read only when the plugin is chosen. */
  readonly fields: F;
  /**
   * What the relayer must be allowed when the plugin plays this role; a promise where that is known
   * only once a package is there.
   */
  permissions?(
    role: Role,
    settings: Values<F>,
    dataDir: string,
  ): Permissions | Promise<Permissions>;
  /**
   * One factory for each role the plugin can play. The type is a method's: a list of plugins holds
   * some with fields of their own.
   */
  readonly roles: {
    readonly [R in Role]?: {
      open(settings: Values<F>, context: RoleContexts[R]): Promise<Backend<R>> | Backend<R>;
    }["open"];
  };
}

/** Types a plugin's factories from its fields. */
export function definePlugin<const F extends Fields>(plugin: Plugin<F>): Plugin<F> {
  return plugin;
}

/**
 * A plugin's factories with settings given in code, for the `backends` of `createRelayer`. The
 * environment is not read: what is not given has its default.
 */
export function pluginSource<const F extends Fields>(
  plugin: Plugin<F>,
  settings: Partial<Values<F>> = {},
): { readonly name: string } & { readonly [R in Role]?: Factory<R> } {
  const values = { ...readFields(plugin.fields, {}), ...settings };
  const bound = Object.entries(plugin.roles)
    .map(([role, open]) => [role, (context: never) => open(values, context)]);
  return { name: plugin.name, ...Object.fromEntries(bound) };
}

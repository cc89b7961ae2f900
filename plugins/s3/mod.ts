/**
 * Sealed records as objects in a bucket of S3 or of a server that is compatible.
 *
 * @module
 */
import { type BackendSource, pluginSource, type Values } from "../../src/interfaces/plugin.ts";
import plugin, { type S3Fields } from "./plugin.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export * from "./backends.ts";
export type { S3Fields } from "./plugin.ts";
export type { BucketAddress, RequestBounds } from "./requests.ts";
export default plugin;

/** The blob store for `createRelayer`. */
export function s3(settings: Partial<Values<S3Fields>> = {}): BackendSource {
  return pluginSource(plugin, settings);
}

import { SvcError } from "../../../src/errors.ts";
import {
  type Field,
  integer,
  optional,
  type Permissions,
  Secret,
  secret,
  type Values,
} from "../../../src/interfaces/plugin.ts";
import { CHAIN_FIELDS, type ChainFields } from "../../../src/interfaces/shared_fields.ts";
import { isObjectId } from "../../../src/wire/keys.ts";
import { rpcUrlOf } from "../../../src/wire/networks.ts";
import { netEntry } from "../../../src/wire/net_entry.ts";
import type { KeyServer, KeyWorkOptions } from "./calls.ts";

const SERVERS = "SVC_SEAL_SERVER_CONFIGS";
const THRESHOLD = "SVC_SEAL_THRESHOLD";
const MEMBERS = ["objectId", "weight", "url", "aggregatorUrl", "apiKeyName", "apiKey"];
const MAX_SERVERS = 32;
/** Shares are numbered in one byte. */
const MAX_WEIGHT = 254;

function listedServers(raw: string): readonly Record<string, unknown>[] {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    // The parser's own message would quote a piece of the value.
    throw new TypeError("must be JSON");
  }
  const isList = Array.isArray(value) && value.length >= 1 && value.length <= MAX_SERVERS &&
    value.every((item) => typeof item === "object" && item !== null && !Array.isArray(item));
  if (!isList) throw new TypeError(`must be a JSON list of 1 to ${MAX_SERVERS} key servers`);
  return value as Record<string, unknown>[];
}

function address(value: unknown, name: string, member: string): string {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new TypeError(`${name} needs an http or https address as ${member}`);
  }
  return String(value).replace(/\/+$/, "");
}

function serverOf(item: Record<string, unknown>, index: number): KeyServer {
  const name = `server ${index + 1}`;
  const { objectId, weight = 1, url, aggregatorUrl, apiKeyName, apiKey } = item;
  const unknown = Object.keys(item).find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined) throw new TypeError(`${name} has an unknown member`);
  if (typeof objectId !== "string" || !isObjectId(objectId)) {
    throw new TypeError(`${name} needs an objectId of 0x and 64 hex characters`);
  }
  if (typeof weight !== "number" || !Number.isInteger(weight) || weight < 0) {
    throw new TypeError(`${name} needs a whole number from 0 as weight`);
  }
  if (url !== undefined && aggregatorUrl !== undefined) {
    throw new TypeError(`${name} has a url and an aggregatorUrl: it is one or a committee`);
  }
  if ((apiKeyName === undefined) !== (apiKey === undefined)) {
    throw new TypeError(`${name} needs both of apiKeyName and apiKey, or none`);
  }
  if (apiKeyName !== undefined && !/^[\w-]{1,64}$/.test(String(apiKeyName))) {
    throw new TypeError(`${name} needs the name of a header as apiKeyName`);
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]{1,1024}$/.test(String(apiKey))) {
    throw new TypeError(`${name} needs visible ASCII characters as apiKey`);
  }
  return {
    objectId: objectId.toLowerCase(),
    weight,
    ...(url === undefined ? {} : { url: address(url, name, "url") }),
    ...(aggregatorUrl === undefined
      ? {}
      : { aggregatorUrl: address(aggregatorUrl, name, "aggregatorUrl") }),
    ...(apiKey === undefined ? {} : { apiKeyName: String(apiKeyName), apiKey: String(apiKey) }),
  };
}

/**
 * Parses the JSON of key servers.
 *
 * @throws {TypeError} that names the entry at fault, without its values.
 */
export function parseServers(raw: string): readonly KeyServer[] {
  const servers = listedServers(raw).map(serverOf);
  const total = totalWeight(servers);
  if (new Set(servers.map(({ objectId }) => objectId)).size < servers.length) {
    throw new TypeError("lists a server twice");
  }
  if (total < 1 || total > MAX_WEIGHT) {
    throw new TypeError(`needs weights that sum up to 1 to ${MAX_WEIGHT}`);
  }
  return servers;
}

function totalWeight(servers: readonly KeyServer[]): number {
  return servers.reduce((sum, { weight }) => sum + weight, 0);
}

/** Settings of the plugin; docs/configuration.md describes each. */
export type SealFields = Pick<ChainFields, "network" | "rpcUrl" | "packageId"> & {
  /** Key servers with their weights, as JSON. */
  readonly servers: Field<Secret | undefined>;
  /** Weight needed to open a key. */
  readonly threshold: Field<number | undefined>;
  /** Longest wait for a key server, milliseconds. */
  readonly timeoutMs: Field<number>;
};

/** Where the settings come from. */
export const SEAL_FIELDS: SealFields = {
  network: CHAIN_FIELDS.network,
  rpcUrl: CHAIN_FIELDS.rpcUrl,
  packageId: CHAIN_FIELDS.packageId,
  servers: {
    ...secret(
      SERVERS,
      "JSON list of `{objectId, weight?, url?, aggregatorUrl?, apiKeyName?, apiKey?}`",
    ),
    parse(raw: string) {
      parseServers(raw);
      return new Secret(raw);
    },
  },
  threshold: optional(
    integer(THRESHOLD, 2, 1, MAX_WEIGHT, "Weight needed to open a key"),
    "min(2, total weight)",
  ),
  timeoutMs: integer(
    "SVC_SEAL_KEY_SERVER_TIMEOUT_MS",
    25_000,
    100,
    120_000,
    "Longest wait for a key server, milliseconds",
  ),
};

/** Parsed {@linkcode SealFields}. */
export type SealSettings = Values<SealFields>;

/**
 * What the work on keys needs to know.
 *
 * @throws {SvcError} `invalid_parameter` that names the settings at fault.
 */
export function keyWorkOptions(settings: SealSettings): KeyWorkOptions {
  const { network, packageId, servers, timeoutMs } = settings;
  if (packageId === undefined || servers === undefined) {
    const missing = [
      ...(packageId === undefined ? ["SVC_PACKAGE_ID"] : []),
      ...(servers === undefined ? [SERVERS] : []),
    ];
    throw new SvcError("invalid_parameter", `SVC_CIPHER=seal needs ${missing.join(" and ")}`);
  }
  const list = parseServers(servers.reveal());
  const total = totalWeight(list);
  const needed = settings.threshold ?? Math.min(2, total);
  if (needed > total) {
    const text = `${THRESHOLD} is ${needed}, but the weights of ${SERVERS} sum up to ${total}`;
    throw new SvcError("invalid_parameter", text);
  }
  const rpcUrl = rpcUrlOf(settings);
  return { network, rpcUrl, packageId, servers: list, threshold: needed, timeoutMs };
}

/** The node of the chain and the key servers whose addresses are configured. */
export function netPermissions(settings: SealSettings): NonNullable<Permissions["net"]> {
  const raw = settings.servers?.reveal();
  const urls = raw === undefined ? [] : parseServers(raw).flatMap((one) => urlOf(one) ?? []);
  return [...new Set([rpcUrlOf(settings), ...urls].map(netEntry))];
}

function urlOf({ url, aggregatorUrl }: KeyServer): string | undefined {
  return url ?? aggregatorUrl;
}

/** Warnings about servers that may be unreachable or are not protected by TLS, one line each. */
export function serverWarnings({ servers }: KeyWorkOptions): string[] {
  return servers.flatMap((server, index) => {
    const url = urlOf(server);
    const name = `seal: key server ${index + 1} of ${SERVERS}`;
    if (url === undefined) {
      return [`${name} has no url: it is reached only where every host is allowed`];
    }
    const { protocol, hostname } = new URL(url);
    const here = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
    return protocol === "http:" && !here ? [`${name} is reached over plain http`] : [];
  });
}

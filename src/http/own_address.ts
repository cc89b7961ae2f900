import { SvcError } from "../errors.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import { inRanges, isLoopback, networkOf } from "../wire/ip_addresses.ts";
import { hostOf, isForwarded, type RequestContext } from "./request.ts";

/** Names of this machine in a Host header, as clients write them. */
const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
/** Path of the MCP resource that takes headers. */
export const MCP_PATH = "/api/mcp";
/** Path of the MCP resource that answers clients of OAuth. */
export const CONNECT_PATH = "/api/mcp/connect";
/**
 * Path of the issuer. Without one its metadata would be where hosts look for those of every resource
 * of this origin, and they would pass over the headers that they were given for `/api/mcp`.
 */
export const ISSUER_PATH = "/oauth";
const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Where a client is, as far as its address tells. */
export type Whereabouts = "this_machine" | "private_network" | "internet" | "unknown";

/** Whether the host of an address belongs to this machine alone. */
function isThisMachine({ hostname }: URL): boolean {
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

const portOf = ({ port, protocol }: URL) => port || PORTS[protocol];

/**
 * What the relayer is called: by its configuration, or by where it listens. No header of a request
 * has a say in `{base_url}`: a challenge that took its relayer from the Host header could be asked
 * for in the name of a stranger's relayer, signed for that one, and used here.
 */
export class OwnAddress {
  readonly #config: Pick<RelayerConfig, "publicUrl" | "allowedHosts" | "trustedProxies">;
  readonly #public: URL | undefined;
  #listener: URL | undefined;

  /** Before it is told where the relayer listens, that is any port of this machine. */
  constructor(config: Pick<RelayerConfig, "publicUrl" | "allowedHosts" | "trustedProxies">) {
    this.#config = config;
    this.#public = config.publicUrl === undefined ? undefined : new URL(config.publicUrl);
  }

  /** Says where the relayer listens: scheme, the address that it is bound to, port. */
  listensAt(url: string): void {
    this.#listener = new URL(url);
  }

  /** `{base_url}`. */
  get base(): string {
    const { origin } = this.#listener ?? new URL("http://127.0.0.1:8000");
    // Bound to every address of the machine, it is reached by this one.
    const here = origin.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, "//127.0.0.1");
    return this.#config.publicUrl ?? here;
  }

  /**
   * Lets a request through whose Host names this relayer. A page that rebinds its own name to this
   * machine's address sends that name.
   *
   * @throws {SvcError} `host_not_allowed`.
   */
  checkHost(request: Request): void {
    const { allowedHosts } = this.#config;
    const host = hostOf(request).toLowerCase();
    const name = host.replace(/:\d+$/, "");
    const isOurs = this.#isHere(host) || this.#isPublic(host) ||
      allowedHosts.includes(name) || allowedHosts.includes("*");
    if (!isOurs) throw new SvcError("host_not_allowed");
  }

  /**
   * Whether a request certainly comes from a program of this machine: not from a proxy on it, which
   * would make everybody look so. What only this machine reaches under one address, and is called by
   * another, is behind a proxy whatever else the settings say.
   */
  isLocal(context: RequestContext): boolean {
    return !this.#isPassedOnTo() && this.#isDirect(context);
  }

  /**
   * Whether others on a network can read what a request brings: it came from another machine over
   * plain HTTP, to this relayer or to the proxy that passed it on.
   */
  isExposed({ request, peer, clientIp, isInternal }: RequestContext): boolean {
    if (isInternal || peer === "" || request.url.startsWith("https:")) return false;
    if (!inRanges(peer, this.#config.trustedProxies)) return !isLoopback(peer);
    const scheme = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim();
    return scheme?.toLowerCase() === "http" && !isLoopback(clientIp);
  }

  /** The address of the MCP routes, which tokens are made for. */
  get mcp(): string {
    return this.base + MCP_PATH;
  }

  /** Address of the MCP resource that apps connect to by OAuth. */
  get connect(): string {
    return this.base + CONNECT_PATH;
  }

  /** What the relayer calls itself as an authorization server (RFC 8414). */
  get issuer(): string {
    return this.base + ISSUER_PATH;
  }

  /**
   * The same resource under the name by which a request calls this relayer: clients compare it with
   * what they were given. Where that is no name of this relayer it is the usual one.
   */
  connectFor(context: RequestContext): string {
    const schemes = [new URL(this.base).protocol, "http:", "https:"];
    const origins = schemes.map((scheme) =>
      URL.parse(`${scheme}//${hostOf(context.request)}`)?.origin ?? ""
    );
    const own = origins.find((origin) => this.isOwnOrigin(origin, context));
    return own === undefined ? this.connect : own + CONNECT_PATH;
  }

  /** Whether an address is that of the resource, under any name of this relayer. */
  isConnect(address: string, context: RequestContext): boolean {
    const url = URL.parse(address);
    if (url === null || url.pathname !== CONNECT_PATH || url.href !== address) return false;
    if (url.search + url.hash + url.username + url.password !== "") return false;
    return url.origin === new URL(this.base).origin || this.isOwnOrigin(url.origin, context);
  }

  /** Where a client is. A proxy that names no client makes everybody look like this machine. */
  whereIs({ clientIp }: RequestContext): Whereabouts {
    const network = networkOf(clientIp);
    if (network === "loopback") return this.#isPassedOnTo() ? "unknown" : "this_machine";
    if (network === "private") return "private_network";
    return network === undefined ? "unknown" : "internet";
  }

  /**
   * Whether a client that signs for an origin means this relayer: the public one, a further name, or
   * the listener itself. Every machine is called `localhost`: where the relayer has a public name,
   * names of this machine count for its own programs only.
   *
   * @param origin As `URL` writes it; any other spelling is nobody's.
   */
  isOwnOrigin(origin: string, context: RequestContext): boolean {
    const url = URL.parse(origin);
    if (url === null || url.origin !== origin) return false;
    if (origin === this.#public?.origin) return true;
    if (this.#config.allowedHosts.includes(url.hostname)) return true;
    const listener = this.#listener;
    const isHere = this.#isHere(url.host) &&
      (listener === undefined || url.protocol === listener.protocol);
    return isHere && (this.#public === undefined || this.#isDirect(context));
  }

  /** Whether the Host of a request is of an origin of this relayer's. */
  isNamedBy(context: RequestContext): boolean {
    const host = hostOf(context.request).toLowerCase();
    return this.#isPublic(host) || ["http", "https"].some((scheme) => {
      const origin = URL.parse(`${scheme}://${host}`)?.origin;
      return origin !== undefined && this.isOwnOrigin(origin, context);
    });
  }

  /** Whether a request comes from this machine, under its name, and no proxy says otherwise. */
  #isDirect({ peer, request }: RequestContext): boolean {
    return isLoopback(peer) && !inRanges(peer, this.#config.trustedProxies) &&
      !isForwarded(request.headers) && this.#isHere(hostOf(request).toLowerCase());
  }

  #isPassedOnTo(): boolean {
    const listener = this.#listener;
    const isExposed = listener !== undefined && !isThisMachine(listener);
    if (this.#public === undefined || isExposed) return false;
    const isSamePort = listener === undefined || portOf(listener) === portOf(this.#public);
    return !(isThisMachine(this.#public) && isSamePort);
  }

  /** Whether a Host header has the public name. Proxies leave its port out, or put their own. */
  #isPublic(host: string): boolean {
    const url = this.#public;
    if (url === undefined) return false;
    if (!isThisMachine(url)) return host.replace(/:\d+$/, "") === url.hostname;
    return hasName(host, url) && hasPort(host, url);
  }

  /** Whether a Host header names the listener itself, or another name of this machine for it. */
  #isHere(host: string): boolean {
    const listener = this.#listener;
    return hasName(host, listener) && (listener === undefined || hasPort(host, listener));
  }
}

/** Whether a Host header has a name of this machine, or that of an address. */
function hasName(host: string, url: URL | undefined): boolean {
  const name = host.replace(/:\d+$/, "");
  return LOOPBACK_HOSTS.includes(name) || name === url?.hostname;
}

function hasPort(host: string, url: URL): boolean {
  return (/:(\d+)$/.exec(host)?.[1] ?? PORTS[url.protocol]) === portOf(url);
}

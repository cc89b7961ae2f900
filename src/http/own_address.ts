import { SvcError } from "../errors.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import { inRanges, isLoopback } from "../wire/ip_addresses.ts";
import { hostOf, isForwarded, type RequestContext } from "./request.ts";

/** Names of this machine in a Host header, as clients write them. */
const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Whether the host of an address belongs to this machine alone. */
function isThisMachine({ hostname }: URL): boolean {
  return /(^|\.)localhost$/.test(hostname) || isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

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
    // Of the public name any port: proxies leave it out, or put their own.
    const isOurs = name === this.#public?.hostname || this.#isHere(host) ||
      allowedHosts.includes(name) || allowedHosts.includes("*");
    if (!isOurs) throw new SvcError("host_not_allowed");
  }

  /**
   * Whether a request certainly comes from a program of this machine: not from a proxy on it, which
   * would make everybody look so. A listener that only this machine reaches, under a public address
   * that is not this machine's, is behind a proxy whatever else the settings say.
   */
  isLocal({ peer, request }: RequestContext): boolean {
    const isPublic = this.#public !== undefined && !isThisMachine(this.#public);
    const isExposed = this.#listener !== undefined && !isThisMachine(this.#listener);
    return isLoopback(peer) && (isExposed || !isPublic) &&
      !inRanges(peer, this.#config.trustedProxies) && !isForwarded(request.headers) &&
      this.#isHere(hostOf(request).toLowerCase());
  }

  /** Whether a Host header names the listener itself, or another name of this machine for it. */
  #isHere(host: string): boolean {
    const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
    const listener = this.#listener;
    if (!LOOPBACK_HOSTS.includes(name) && name !== listener?.hostname) return false;
    if (listener === undefined) return true;
    const places = this.#public && isThisMachine(this.#public)
      ? [listener, this.#public]
      : [listener];
    return places.some((url) => {
      const usual = PORTS[url.protocol];
      return (port ?? usual) === (url.port || usual);
    });
  }
}

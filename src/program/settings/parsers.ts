import { checked, type Field, httpUrl, integer, list, text } from "../../interfaces/fields.ts";

/** A whole number whose invalid values mean the default. */
export function lenientInteger(
  env: string,
  fallback: number,
  min: number,
  max: number,
  doc: string,
): Field<number> {
  return { ...integer(env, fallback, min, max, doc), lenient: true };
}

/** An `http` or `https` address that is an origin, because what is behind it has paths of its own. */
export function originUrl(env: string, doc: string): Field<string> {
  const base = httpUrl(env, "", doc);
  const parse = (raw: string) => {
    base.parse(raw);
    const { href, origin } = new URL(raw);
    if (href !== `${origin}/`) {
      throw new TypeError(
        `must be an address such as https://app.example.org without a path, got "${raw}"`,
      );
    }
    return origin;
  };
  return { ...base, parse };
}

/** A host name or address to listen on; brackets around an IPv6 address are dropped. */
export function hostName(env: string, fallback: string, doc: string): Field<string> {
  return {
    ...text(env, fallback, doc),
    parse(raw) {
      const host = raw.replace(/^\[(.*)\]$/, "$1").toLowerCase();
      // The URL parser is the platform's IPv6 parser.
      const isV6 = host.includes(":") && URL.canParse(`http://[${host}]/`);
      if (!/^[a-z0-9.-]+$/.test(host) && !isV6) {
        throw new TypeError(`must be a host name or an address without a port, got "${raw}"`);
      }
      return host;
    },
  };
}

/** Whether a host means this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A listen address as a URL has it. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** A listen address the way clients on this machine write it in a URL. */
export function formatHost(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : urlHost(host);
}

/** An `http` address on the loopback interface; `localhost` is taken as 127.0.0.1. */
export function loopbackUrl(env: string, fallback: string, doc: string): Field<string> {
  const base = httpUrl(env, fallback, doc);
  const parse = (raw: string) => {
    const url = new URL(base.parse(raw));
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (!isLoopback(host)) throw new TypeError(`must be a loopback address, got "${raw}"`);
    if (url.protocol !== "http:" || url.pathname !== "/" || url.search !== "") {
      throw new TypeError(`must be http://host:port without a path, got "${raw}"`);
    }
    // `localhost` may resolve to ::1, where a stranger could listen.
    const name = host === "localhost" ? "127.0.0.1" : url.hostname;
    return `http://${name}:${url.port === "" ? 80 : url.port}`;
  };
  return { ...base, fallback: parse(fallback), fallbackText: fallback, parse };
}

/** A comma-separated list whose items pass a check; `wanted` names the items for people. */
function listOf(env: string, doc: string, wanted: string, isItem: (item: string) => boolean) {
  return checked(list(env, [], doc), (items) => {
    const wrong = items.find((item) => !isItem(item));
    return wrong === undefined ? undefined : `must list ${wanted}, got "${wrong}"`;
  });
}

/** Origins such as `https://app.example.org`, comma-separated. */
export function origins(env: string, doc: string): Field<readonly string[]> {
  return listOf(env, doc, "origins such as https://app.example.org", (item) => {
    const url = URL.parse(item);
    return url?.origin === item && /^https?:$/.test(url.protocol);
  });
}

const HOST_NAME = /^(\*|[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])$/;

/** Host names without a port, comma-separated; `*` means any. */
export function hostNames(env: string, doc: string): Field<readonly string[]> {
  const field = listOf(env, doc, "host names without ports", (item) => HOST_NAME.test(item));
  return { ...field, parse: (raw) => field.parse(raw).map((item) => item.toLowerCase()) };
}

function isNetwork(item: string): boolean {
  const [address = "", prefix, extra] = item.split("/");
  if (extra !== undefined || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return false;
  const bits = Number(prefix ?? 0);
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) {
    return bits <= 32 && address.split(".").every((part) => Number(part) <= 255);
  }
  // The URL parser is the platform's IPv6 parser.
  return bits <= 128 && address.includes(":") && URL.canParse(`http://[${address}]/`);
}

/** Addresses and CIDR ranges, comma-separated. */
export function networks(env: string, doc: string): Field<readonly string[]> {
  return listOf(env, doc, "addresses or CIDR ranges such as 10.0.0.0/8", isNetwork);
}

/** A comma-separated choice out of a closed list of words, at least one. */
export function words<const T extends string>(
  env: string,
  all: readonly T[],
  doc: string,
): Field<readonly T[]> {
  const items = list(env, all, doc);
  return {
    env,
    fallback: all,
    doc,
    parse(raw) {
      const chosen = items.parse(raw);
      const known = all.filter((word) => chosen.includes(word));
      if (known.length === 0 || known.length !== new Set(chosen).size) {
        throw new TypeError(`must be a comma list out of ${all.join(", ")}, got "${raw}"`);
      }
      return known;
    },
  };
}

import {
  checked,
  type Field,
  headerSecret,
  httpUrl,
  integer,
  type Secret,
} from "../../interfaces/fields.ts";

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
    env,
    fallback,
    doc,
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

/** A listen address the way clients on this machine write it in a URL. */
export function formatHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
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

/** A secret of at least some length that is sent in a header. */
export function tokenSecret(env: string, min: number, doc: string): Field<Secret | undefined> {
  return checked(
    headerSecret(env, doc),
    (token) =>
      token !== undefined && token.reveal().length < min
        ? `must have at least ${min} visible ASCII characters`
        : undefined,
  );
}

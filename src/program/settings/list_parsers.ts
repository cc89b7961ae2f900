import { checked, type Field, list } from "../../interfaces/fields.ts";

/** Origins such as `https://app.example.org`, comma-separated. */
export function origins(env: string, doc: string): Field<readonly string[]> {
  return checked(list(env, [], doc), (items) => {
    const wrong = items.find((item) => {
      const url = URL.parse(item);
      return url === null || url.origin !== item || !/^https?:$/.test(url.protocol);
    });
    return wrong === undefined
      ? undefined
      : `must list origins such as https://app.example.org, got "${wrong}"`;
  });
}

/** Host names without a port, comma-separated; `*` means any. */
export function hostNames(env: string, doc: string): Field<readonly string[]> {
  const field = checked(list(env, [], doc), (items) => {
    const wrong = items.find((item) => !/^(\*|[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])$/.test(item));
    return wrong === undefined ? undefined : `must list host names without ports, got "${wrong}"`;
  });
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
  return checked(list(env, [], doc), (items) => {
    const wrong = items.find((item) => !isNetwork(item));
    return wrong === undefined
      ? undefined
      : `must list addresses or CIDR ranges such as 10.0.0.0/8, got "${wrong}"`;
  });
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

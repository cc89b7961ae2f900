import { checked, type Field, list } from "../../interfaces/fields.ts";

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

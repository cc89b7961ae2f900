/** The hosts that `isExposed` takes for this machine, as `NO_PROXY` names them. */
const THIS_MACHINE = ["127.0.0.0/8", "localhost", "::1"];

/**
 * A value of `NO_PROXY` by which requests to this machine stay on it. Deno's `fetch` sends them to
 * the proxy of `HTTP_PROXY` otherwise, in the clear, keys and texts in them.
 *
 * @param env What the environment says; what it excepts stays excepted.
 */
export function noProxyHere(env: Readonly<Record<string, string | undefined>>): string {
  const own = env.NO_PROXY || env.no_proxy;
  return [...(own ? [own] : []), ...THIS_MACHINE].join(",");
}

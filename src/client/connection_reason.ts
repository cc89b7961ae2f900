/** Names of platforms and TLS libraries, such as `ECONNREFUSED`. */
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;
/** What Deno says instead, behind the address; it ends where another address could begin. */
const DENO = /: client error \(Connect\): ([\w .,:()'-]{1,200})$/;

/**
 * Why a connection failed, in few words without addresses: the code that the platform gives, or
 * what it says of its attempt to connect. Browsers tell neither.
 *
 * @param thrown What `fetch` rejected with.
 */
export function connectionReason(thrown: unknown): string | undefined {
  let depth = 0;
  for (let error = thrown; error instanceof Error && depth < 8; error = error.cause, depth++) {
    const code: unknown = Reflect.get(error, "code");
    if (typeof code === "string" && CODE.test(code)) return code;
    const said = DENO.exec(error.message)?.[1];
    if (said !== undefined) return said;
  }
  return undefined;
}

/** How much a connection to the server is trusted. */
export type Encryption = "disable" | "require" | "verify-full";

/** Where a database is and who asks. */
export interface DatabaseAddress {
  /** Name or address; without the brackets of an IPv6 address. */
  readonly host: string;
  /** Port of the server, or of a pooler before it. */
  readonly port: number;
  /** Role that the schema belongs to. */
  readonly user: string;
  /** Its password; may be empty. */
  readonly password: string;
  /** Name of the database. */
  readonly database: string;
  /** What is asked of the connection. */
  readonly encryption: Encryption;
}

const FORM = "must look like postgres://user:password@host:5432/database";
const ENCRYPTIONS: readonly Encryption[] = ["disable", "require", "verify-full"];

/** Whether a host is this machine, by its name. */
function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new TypeError(FORM);
  }
}

/**
 * Reads the address of a database. Nothing of it is in an error: it may hold a password. Without
 * `sslmode` a connection to another machine is `verify-full`, one to this machine `disable`.
 *
 * @throws {TypeError} with what is wrong, without the value.
 */
export function parseAddress(raw: string): DatabaseAddress {
  const url = URL.parse(raw);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === "") {
    throw new TypeError(FORM);
  }
  const host = decoded(url.hostname).replace(/^\[(.*)\]$/, "$1");
  const database = decoded(url.pathname.slice(1));
  const user = decoded(url.username);
  if (user === "" || database === "" || database.includes("/")) throw new TypeError(FORM);
  for (const name of url.searchParams.keys()) {
    if (name !== "sslmode") throw new TypeError("takes no parameter but sslmode");
  }
  const fallback = isThisMachine(host) ? "disable" : "verify-full";
  const mode = url.searchParams.get("sslmode") ?? fallback;
  const encryption = ENCRYPTIONS.find((known) => known === mode);
  if (encryption === undefined) {
    throw new TypeError(`takes sslmode=${ENCRYPTIONS.join(", sslmode=")}`);
  }
  const port = url.port === "" ? 5432 : Number(url.port);
  return { host, port, user, password: decoded(url.password), database, encryption };
}

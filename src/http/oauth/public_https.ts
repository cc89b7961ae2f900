import { SvcError } from "../../errors.ts";
import { Deadline } from "../../deadline.ts";
import { HttpConnection } from "../../http1/http_connection.ts";
import type { PublicNetwork } from "../../interfaces/public_network.ts";
import { isPublicAddress } from "../../wire/ip_addresses.ts";
import { connectProven } from "./proven_connection.ts";

async function records(
  name: string,
  type: "A" | "AAAA",
  signal: AbortSignal,
): Promise<string[]> {
  try {
    return await Deno.resolveDns(name, type, { signal });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The internet. */
export const INTERNET: PublicNetwork = {
  async resolve(name, signal) {
    const [v4, v6] = await Promise.all([
      records(name, "A", signal),
      records(name, "AAAA", signal),
    ]);
    return [...v4, ...v6];
  },
  isPublic: isPublicAddress,
  connect: (address, name, signal) => connectProven(address, name, signal),
};

const MOST_MS = 5_000;
const MOST_BYTES = 65_536;

/** An answer that arrived whole. */
export interface Fetched {
  readonly status: number;
  /** Media type, in lower case, without parameters. */
  readonly type: string;
  /** Value of `cache-control`. */
  readonly cacheControl: string;
  readonly bytes: Uint8Array;
}

const refused = (why: string, cause?: unknown) =>
  new SvcError("invalid_parameter", why, cause === undefined ? {} : { cause });

/**
 * The address that a name has now. It is connected to as it is: a name that is looked up twice may
 * be somebody else's the second time.
 */
async function addressOf(
  network: PublicNetwork,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const addresses = await network.resolve(name, signal);
  // One that is private is enough: which of them is taken is nothing a stranger should choose.
  if (!addresses.every((address) => network.isPublic(address))) {
    throw refused("its name leads to a private network");
  }
  const [address] = addresses;
  if (address === undefined) throw refused("its name leads nowhere");
  return address;
}

async function gathered(body: AsyncIterator<Uint8Array> | undefined): Promise<Uint8Array> {
  const all = new Uint8Array(MOST_BYTES);
  let length = 0;
  for (let next = await body?.next(); next?.done === false; next = await body?.next()) {
    if (length + next.value.length > MOST_BYTES) throw refused("it is larger than 64 KiB");
    all.set(next.value, length);
    length += next.value.length;
  }
  return all.slice(0, length);
}

async function ask(
  network: PublicNetwork,
  { hostname, pathname }: URL,
  signal: AbortSignal,
  open: (connection: HttpConnection) => void,
): Promise<Fetched> {
  const address = await addressOf(network, hostname, signal);
  signal.throwIfAborted();
  const socket = await network.connect(address, hostname, signal);
  const connection = HttpConnection.over(socket, hostname);
  open(connection);
  signal.throwIfAborted();
  const answer = await connection.send({
    method: "GET",
    target: pathname,
    headers: [["accept", "application/json"], ["connection", "close"], ["user-agent", "svc"]],
  });
  const { status, headers } = answer;
  // A redirect is an answer that is none of ours: it may lead anywhere.
  if (status !== 200) throw refused(`it answered ${status}`);
  return {
    status,
    type: (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase(),
    cacheControl: headers.get("cache-control") ?? "",
    bytes: await gathered(answer.body),
  };
}

/** What was read, and when nothing of the reading is left. */
export interface PublicReading {
  /** Settles within the time. */
  readonly answer: Promise<Fetched>;
  /** Resolves when the connection is closed, which a network that ignores its signal puts off. */
  readonly over: Promise<void>;
}

/**
 * Reads what lies under an address of the public internet: at most 64 KiB, within five seconds, over
 * TLS, without following a redirect.
 *
 * @param url Of `https`, without a port.
 * The answer rejects with a {@linkcode SvcError} `invalid_parameter`, whose message says why.
 */
export function readPublic(
  network: PublicNetwork,
  url: URL,
  ms: number = MOST_MS,
): PublicReading {
  const deadline = new Deadline(ms, undefined, () => refused("it took too long"));
  const { signal } = deadline;
  let connection: HttpConnection | undefined;
  const close = () => connection?.close();
  signal.addEventListener("abort", close);
  const work = ask(network, url, signal, (opened) => connection = opened);
  return {
    answer: answered(deadline, work),
    // A connection that is made too late is closed as well.
    over: work.then(close, close),
  };
}

async function answered(deadline: Deadline, work: Promise<Fetched>): Promise<Fetched> {
  using _ = deadline;
  try {
    return await deadline.wait(work);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw refused("it cannot be reached", error);
  }
}

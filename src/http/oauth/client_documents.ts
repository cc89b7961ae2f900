import { BoundedMap } from "../../bounded_map.ts";
import { SvcError } from "../../errors.ts";
import { clientName, type OAuthClient, redirectsOf } from "./client.ts";
import { OAuthError } from "./oauth_error.ts";
import type { PublicNetwork } from "../../interfaces/public_network.ts";
import { type Fetched, INTERNET, readPublic } from "./public_https.ts";

const MOST_DOCUMENTS = 200;
/** Documents that are being read at a time. */
const MOST_READS = 8;
/** Of them those that one network of clients has asked for. */
const MOST_READS_OF_ONE = 2;
const HOUR_MS = 3_600_000;
const FAILURE_MS = 30_000;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * HOUR_MS;
const URL_CHARACTERS = 512;

/**
 * The address of a client's document (Client ID Metadata Documents): of `https`, with a path, and
 * spelled as `URL` does.
 *
 * @returns `undefined` for a text that is none.
 */
export function documentUrl(clientId: string): URL | undefined {
  if (!clientId.startsWith("https://") || clientId.length > URL_CHARACTERS) return undefined;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId || url.pathname === "/") return undefined;
  const hasMore = url.port + url.search + url.hash + url.username + url.password !== "";
  // An address of numbers is nobody's name.
  const isName = /^[a-z\d.-]+\.[a-z][a-z\d-]*$/.test(url.hostname);
  return hasMore || clientId.includes("#") || !isName ? undefined : url;
}

/** How long an answer may be kept, by what it says of itself. */
function keptFor(cacheControl: string): number {
  if (/\bno-(store|cache)\b/.test(cacheControl)) return SHORTEST_MS;
  const seconds = /\bmax-age=(\d{1,9})\b/.exec(cacheControl)?.[1];
  const ms = seconds === undefined ? HOUR_MS : Number(seconds) * 1000;
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms));
}

function clientIn(bytes: Uint8Array, url: URL): OAuthClient {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new SvcError("invalid_parameter", "it is no JSON");
  }
  if (typeof document !== "object" || document === null) {
    throw new SvcError("invalid_parameter", "it is no JSON object");
  }
  const member = (name: string): unknown => Reflect.get(document, name);
  if (member("client_id") !== url.href) {
    throw new SvcError("invalid_parameter", "its client_id is not its address");
  }
  if ((member("token_endpoint_auth_method") ?? "none") !== "none") {
    throw new SvcError("invalid_parameter", "its token_endpoint_auth_method is not none");
  }
  const redirectUris = redirectsOf(member("redirect_uris"));
  if (redirectUris === undefined) {
    throw new SvcError("invalid_parameter", "its redirect_uris are not usable");
  }
  const name = clientName(member("client_name"));
  return { clientId: url.href, name, host: url.hostname, redirectUris };
}

interface Entry {
  readonly client: OAuthClient | OAuthError;
  readonly until: number;
}

/** How documents are read. */
export interface DocumentOptions {
  /** Longest time of a reading, milliseconds; 5,000 by default. */
  readonly ms?: number;
  /** Told why a document of a host cannot be used. */
  readonly onRefused?: (host: string, reason: string) => void;
}

/** What clients say of themselves under an address of theirs, read at most once an hour. */
export class ClientDocuments {
  readonly #network: PublicNetwork;
  readonly #now: () => number;
  readonly #options: DocumentOptions;
  readonly #known = new BoundedMap<string, Entry>(MOST_DOCUMENTS);
  readonly #reading = new Map<string, Promise<Entry>>();
  /** Whose they are. */
  readonly #readers: string[] = [];

  /** Reads nothing yet. `now`: milliseconds since the epoch. */
  constructor(
    now: () => number,
    network: PublicNetwork = INTERNET,
    options: DocumentOptions = {},
  ) {
    this.#network = network;
    this.#now = now;
    this.#options = options;
  }

  /**
   * The client whose document lies under an address.
   *
   * @param network Of the client address that asks.
   * @throws {OAuthError} `invalid_client`.
   * @throws {SvcError} `overloaded` when too many documents are being read.
   */
  async read(url: URL, network: string): Promise<OAuthClient> {
    const known = this.#known.get(url.href);
    const { client } = known !== undefined && known.until > this.#now()
      ? known
      : await this.#readAnew(url, network);
    if (client instanceof OAuthError) throw client;
    return client;
  }

  async #readAnew(url: URL, network: string): Promise<Entry> {
    const { href } = url;
    const running = this.#reading.get(href);
    if (running !== undefined) return await running;
    const own = this.#readers.filter((one) => one === network).length;
    if (own >= MOST_READS_OF_ONE || this.#readers.length >= MOST_READS) {
      throw new SvcError("overloaded");
    }
    this.#readers.push(network);
    const { answer, over } = readPublic(this.#network, url, this.#options.ms);
    const reading = this.#entryOf(url, answer);
    this.#reading.set(href, reading);
    const entry = await reading;
    this.#known.set(href, entry);
    // Not before its connection is closed: else there would be more of them than are counted.
    void over.then(() => {
      this.#reading.delete(href);
      this.#readers.splice(this.#readers.indexOf(network), 1);
    });
    return entry;
  }

  async #entryOf(url: URL, answer: Promise<Fetched>): Promise<Entry> {
    try {
      const { type, bytes, cacheControl } = await answer;
      if (!/^application\/([\w.-]+\+)?json$/.test(type)) {
        throw new SvcError("invalid_parameter", "it is no JSON");
      }
      return { client: clientIn(bytes, url), until: this.#now() + keptFor(cacheControl) };
    } catch (error) {
      this.#options.onRefused?.(url.hostname, SvcError.from(error).message);
      // Which of them it was would tell strangers what names there are where the relayer stands.
      const client = new OAuthError("invalid_client", "The client's document cannot be used");
      return { client, until: this.#now() + FAILURE_MS };
    }
  }
}

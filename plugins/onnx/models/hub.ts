import { SvcError } from "../../../src/errors.ts";
import type { ModelDescription, ModelFile } from "./description.ts";
import { BrokenModel } from "./files.ts";

/** Where models are fetched from, and how long it may keep somebody waiting. */
export interface Hub {
  /** Address of Hugging Face, or of a mirror of it. */
  readonly url: string;
  /**
   * Further hosts that downloads may be sent to, `*.` standing for any beginning: the hub answers
   * with the address of a store elsewhere.
   */
  readonly hosts: readonly string[];
  /** Longest wait for the next bytes, in milliseconds. */
  readonly stallMs?: number;
  /** First pause before another try, in milliseconds; each one after it is twice as long. */
  readonly pauseMs?: number;
}

/** What the hub says of a file before it sends it. */
export interface Announced {
  readonly bytes: number | undefined;
  /** SHA-256 of a file that the hub keeps in a store of its own. */
  readonly sha256: string | undefined;
  /** Name of a file that is kept in the repository: SHA-1 as git computes it. */
  readonly gitSha1: string | undefined;
}

/** A file on its way. */
export interface Incoming extends Announced {
  /** Where its bytes begin: 0 where the hub sends the file from its start. */
  readonly start: number;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Redirects that are followed: the hub's own, and one or two of its store. */
const HOPS = 5;

/** The hub, or the way to it, failed; another try may succeed. */
export class HubFailure extends SvcError {
  /** The message must be safe to show. */
  constructor(message: string) {
    super("embedding_unavailable", message);
  }
}

function refused(message: string): SvcError {
  return new SvcError("invalid_parameter", message);
}

/** Whether a download may go there. */
export function isAllowed(target: URL, { url, hosts }: Pick<Hub, "url" | "hosts">): boolean {
  const hub = new URL(url);
  // Only a hub without TLS may send somebody somewhere without TLS.
  if (target.protocol !== "https:" && target.protocol !== hub.protocol) return false;
  if (target.protocol !== "https:" && target.protocol !== "http:") return false;
  return target.host === hub.host ||
    hosts.some((pattern) =>
      pattern.startsWith("*.")
        ? target.hostname.endsWith(pattern.slice(1)) || target.hostname === pattern.slice(2)
        : target.host === pattern || target.hostname === pattern
    );
}

/** Address of a file of a repository at a commit. */
function addressOf(
  hub: Hub,
  { repository, revision }: Pick<ModelDescription, "repository" | "revision">,
  path: string,
): URL {
  return new URL(`${hub.url}/${repository}/resolve/${revision}/${path}`);
}

const unquoted = (text: string | null) => text?.replace(/^W\//, "").replaceAll('"', "");

/** What the headers of the hub itself say; a store is not asked what the file should be. */
function announced(headers: Headers): Announced {
  const linked = unquoted(headers.get("x-linked-etag"));
  const own = unquoted(headers.get("etag"));
  const size = headers.get("x-linked-size");
  return {
    bytes: size !== null && /^\d{1,15}$/.test(size) ? Number(size) : undefined,
    sha256: [linked, own].find((text) => /^[0-9a-f]{64}$/.test(text ?? "")),
    gitSha1: [linked, own].find((text) => /^[0-9a-f]{40}$/.test(text ?? "")),
  };
}

/** What an answer that has no file means. */
function statusError(status: number, host: string, path: string): SvcError {
  if (status === 404) return refused(`${host} has no ${path} of that revision`);
  if (status === 401 || status === 403) {
    return refused(`${host} does not give ${path} to everybody: it asks for a sign-in`);
  }
  if (status === 429) return new HubFailure(`${host} asks for a pause`);
  if (status >= 500) return new HubFailure(`${host} answered with status ${status}`);
  return refused(`${host} answered with status ${status} for ${path}`);
}

/** Checks what the hub says against what is known, before a byte is taken. */
function check(said: Announced, commit: string | null, file: ModelFile, revision: string): void {
  if (commit !== null && commit !== revision) {
    throw new BrokenModel(`${file.path} is of another revision on the hub: ${commit.slice(0, 40)}`);
  }
  const { bytes, sha256 } = file;
  const other = sha256 !== undefined && said.sha256 !== undefined && said.sha256 !== sha256 ||
    bytes !== undefined && said.bytes !== undefined && said.bytes !== bytes;
  if (other) throw new BrokenModel(`${file.path} is another file on the hub than it was`);
}

async function ask(url: URL, start: number, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      redirect: "manual",
      signal,
      headers: {
        "accept-encoding": "identity",
        ...(start === 0 ? {} : { range: `bytes=${start}-` }),
      },
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Deno.errors.NotCapable) {
      throw refused(`${url.host} is not among the hosts that may be reached: SVC_MODEL_HUB_HOSTS`);
    }
    throw new HubFailure(`${url.host} cannot be reached`);
  }
}

/** Where the bytes of an answer begin, as it says. */
function startOf(response: Response, asked: number): number {
  if (response.status !== 206) return 0;
  const range = /^bytes (\d{1,15})-/.exec(response.headers.get("content-range") ?? "");
  if (range !== null && Number(range[1]) === asked) return asked;
  throw new HubFailure("The hub sent another part of the file than was asked for");
}

/**
 * Asks for a file, from a byte on. Redirects are followed to allowed hosts only.
 *
 * @throws {SvcError} `invalid_parameter` where there is no such file, or it lies at a host that is
 * not allowed; `storage_unavailable` where it is another file; {@linkcode HubFailure}.
 */
export async function openFile(
  hub: Hub,
  model: Pick<ModelDescription, "repository" | "revision">,
  file: ModelFile,
  start: number,
  signal: AbortSignal,
): Promise<Incoming> {
  let url = addressOf(hub, model, file.path);
  const own = url.host;
  let said: Announced = { bytes: undefined, sha256: undefined, gitSha1: undefined };
  for (let hop = 0; hop <= HOPS; hop++) {
    if (!isAllowed(url, hub)) {
      throw refused(
        `${own} sends ${file.path} to ${url.host}, which is not among its hosts: ` +
          "SVC_MODEL_HUB_HOSTS names them",
      );
    }
    const response = await ask(url, start, signal);
    const { status, headers } = response;
    if (url.host === own) {
      const now = announced(headers);
      said = {
        bytes: said.bytes ?? now.bytes,
        sha256: said.sha256 ?? now.sha256,
        gitSha1: said.gitSha1 ?? now.gitSha1,
      };
      const isWrong = () => check(said, headers.get("x-repo-commit"), file, model.revision);
      await orCancel(response, isWrong);
    }
    if ((status === 200 || status === 206) && response.body !== null) {
      const begin = await orCancel(response, () => startOf(response, start));
      const length = headers.get("content-length");
      const sent = length === null ? undefined : begin + Number(length);
      return { ...said, bytes: said.bytes ?? sent, start: begin, body: response.body };
    }
    await response.body?.cancel();
    // There is nothing behind what is there already: it may be another file's beginning.
    if (status === 416 && start > 0) return await openFile(hub, model, file, 0, signal);
    const location = headers.get("location");
    if (status < 300 || status >= 400 || location === null) {
      throw statusError(status, url.host, file.path);
    }
    const next = URL.parse(location, url);
    if (next === null) throw new HubFailure(`${url.host} sends ${file.path} nowhere`);
    url = next;
  }
  throw new HubFailure(`${own} sends ${file.path} in circles`);
}

/** Does something with an answer; one that is not wanted any more is not read. */
async function orCancel<T>(response: Response, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    await response.body?.cancel();
    throw error;
  }
}

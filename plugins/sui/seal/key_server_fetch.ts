import { gather } from "../../../src/wire/body/read_body.ts";
import { keyServersDown } from "./failures.ts";

/** Answers hold some hundred bytes a key. */
const MAX_BYTES = 256 * 1024;

/** Errors by which a key server refuses the caller. */
const REFUSALS = new Set<unknown>([
  "NoAccess",
  "InvalidSignature",
  "InvalidSessionSignature",
  "InvalidCertificate",
  "InvalidMVRName",
]);

/** The `fetch` of one exchange with key servers; counts how the servers answered. */
export class KeyServerFetch {
  /** How many servers refused the caller. */
  refused = 0;
  /** How many servers could not be reached or answered with another error. */
  failed = 0;
  readonly #signal: AbortSignal;

  /** @param signal Ends every request. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Reads answers whole, within a number of bytes, and refuses redirects, because API keys and the
   * permission list are meant for one host.
   */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const signal = init.signal ? AbortSignal.any([init.signal, this.#signal]) : this.#signal;
    try {
      const response = await fetch(input, { ...init, redirect: "error", signal });
      const tooLarge = () => keyServersDown(undefined, "A key server's answer is too large");
      const body = await gather(response, MAX_BYTES, tooLarge);
      if (!response.ok) {
        if (REFUSALS.has(errorName(body))) this.refused++;
        else this.failed++;
      }
      const { status, headers } = response;
      const kept = new Headers();
      for (const name of ["content-type", "x-keyserver-version"]) {
        const value = headers.get(name);
        if (value !== null) kept.set(name, value);
      }
      return new Response(body, { status, headers: kept });
    } catch (error) {
      // Once enough servers answered, the SDK aborts the others, which have not failed.
      if (!init.signal?.aborted || isTimeout(init.signal.reason)) this.failed++;
      if (error instanceof Deno.errors.NotCapable) {
        throw keyServersDown(
          undefined,
          "The relayer may not reach a key server: SVC_SEAL_SERVER_CONFIGS needs its url",
        );
      }
      throw error;
    }
  };
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

function errorName(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))?.error;
  } catch {
    return undefined;
  }
}

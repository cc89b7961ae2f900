import { gather } from "../../../src/wire/body/gathered_bytes.ts";
import { keyServersDown, misconfigured } from "./failures.ts";

/** Answers hold some hundred bytes a key. */
const MAX_BYTES = 256 * 1024;

/** Errors of a key server that are about the caller. */
const REFUSALS = new Set([
  "NoAccess",
  "InvalidSignature",
  "InvalidSessionSignature",
  "InvalidCertificate",
  "InvalidMVRName",
]);

/** What became of the calls of one exchange with key servers. */
export class KeyServerFetch {
  /** Servers that refused the caller. */
  refused = 0;
  /** Servers that could not be asked or answered anything else. */
  failed = 0;
  /** Set where the permission list forbids a server. */
  forbidden = false;
  readonly #signal: AbortSignal;

  /** Everything ends by the signal. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * The SDK's `fetch`: answers are read whole within a number of bytes, and redirects are refused,
   * because API keys and the permission list are meant for one host.
   */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const signal = init.signal ? AbortSignal.any([init.signal, this.#signal]) : this.#signal;
    try {
      const response = await fetch(input, { ...init, redirect: "error", signal });
      const body = await readCapped(response);
      if (!response.ok) this.#count(body);
      const { status, headers } = response;
      const kept = new Headers();
      for (const name of ["content-type", "x-keyserver-version"]) {
        const value = headers.get(name);
        if (value !== null) kept.set(name, value);
      }
      return new Response(body, { status, headers: kept });
    } catch (error) {
      // Once enough servers answered the SDK gives up the others: that is no failure of theirs.
      if (!init.signal?.aborted || isTimeout(init.signal.reason)) this.failed++;
      if (error instanceof Deno.errors.NotCapable) {
        this.forbidden = true;
        throw misconfigured(
          "The relayer may not reach a key server: SVC_SEAL_SERVER_CONFIGS needs its url",
        );
      }
      throw error;
    }
  };

  #count(body: Uint8Array): void {
    if (REFUSALS.has(errorName(body))) this.refused++;
    else this.failed++;
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

function errorName(body: Uint8Array): string {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof parsed !== "object" || parsed === null || !("error" in parsed)) return "";
    return typeof parsed.error === "string" ? parsed.error : "";
  } catch {
    return "";
  }
}

async function readCapped(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => keyServersDown(undefined, "A key server's answer is too large");
  return await gather(response, MAX_BYTES, tooLarge);
}

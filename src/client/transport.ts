import { Deadline } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { isObjectId } from "../wire/keys.ts";
import type { AnswerOf } from "../wire/route_types.ts";
import { bodySha256, canonicalText } from "../wire/signing/signing.ts";
import { readCapped } from "./capped_body.ts";
import { failureOf, parseObject, SvcAnswerError, SvcConnectionError } from "./failures.ts";
import type { ResolvedOptions } from "./options.ts";
import { makeSealSession, type SealSession } from "./seal_session.ts";
import type { Signer } from "./signer.ts";

/** One call of a route. */
export interface Call {
  /** Method and path, such as `POST /api/recall`; the path percent-encoded, with its query. */
  readonly route: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  /** Sent as JSON; a string is sent as NDJSON. */
  readonly body?: unknown;
  /** Public routes are not signed. */
  readonly unsigned?: true;
  /** Whether sending it again has no further effect; implied by an idempotency key. */
  readonly repeatable?: boolean;
  /** Value of `idempotency-key`. */
  readonly idempotencyKey?: string | undefined;
  /** Whether the relayer opens memories for it. */
  readonly decrypts?: boolean | "locked";
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
}

const utf8 = new TextEncoder();
const HEALTH_STATUS: keyof AnswerOf<"GET /health"> = "status";
const HOST_BOUND = "auth.hostBound";
/** Longest wait for what the relayer offers, in milliseconds. */
const VERSION_MS = 3000;
/** A clock that is off by less than this is not why a timestamp was refused. */
const CLOCK_TOLERANCE_MS = 5000;
/** What gateways answer in the place of a relayer. */
const GATEWAY_FAILURES: readonly number[] = [502, 503, 504];
/** A relayer that stopped uncleanly refuses timestamps of its first 2 s (docs/protocol.md#4.4-7). */
const RESTART_WAIT_MS = 3000;

/** A random UUID, also where `crypto.randomUUID` is missing (pages of insecure origins). */
export function randomUuid(): string {
  if (crypto.randomUUID !== undefined) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** What is sent, before it is signed. */
interface Prepared {
  readonly method: string;
  readonly url: URL;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs, sends, repeats where that is safe, and turns refusals into errors. */
export class Transport {
  readonly options: ResolvedOptions;
  #signer: Promise<Signer> | undefined;
  /** Relayer's clock minus ours, in milliseconds. */
  #clockOffset = 0;
  /** Set once the relayer asked for a credential where it decrypts. */
  #sealSession: Promise<SealSession> | undefined;
  /** Whether the relayer takes host-bound signatures, once it has said so. */
  #isHostBound: boolean | undefined;
  #asking: Promise<void> | undefined;
  /** `Date` of the last refusal. */
  #relayerDate: string | null = null;

  constructor(options: ResolvedOptions) {
    this.options = options;
  }

  /** The signer, made once. */
  signer(): Promise<Signer> {
    return this.#signer ??= this.options.makeSigner();
  }

  /** The answer's JSON; the relayer is trusted to answer in the shape that is asked for. */
  async json<T>(call: Call): Promise<T> {
    const { response, text } = await this.#repeat(call, (prepared) => this.#whole(prepared, call));
    const value = parseObject(text);
    if (value === undefined) throw new SvcAnswerError("The answer is not JSON", response.status);
    return value as T;
  }

  /** The answer's body as a stream; sent again only where it was refused before anything happened. */
  async stream(call: Call): Promise<ReadableStream<Uint8Array>> {
    return await this.#repeat(call, async (prepared) => {
      const deadline = new Deadline(this.options.timeoutMs, call.signal);
      try {
        const response = await deadline.wait(this.#send(prepared, call, deadline.signal));
        if (response.ok && response.body !== null) return this.#rest(response.body, call, deadline);
        throw this.#refusal(response, await deadline.wait(readCapped(response)) ?? "");
      } catch (error) {
        deadline.close();
        throw this.#ending(call, deadline) ?? error;
      }
    });
  }

  async #prepare(call: Call): Promise<Prepared> {
    const { baseUrl, headers, credentialHeaders } = this.options;
    const [method = "", path = ""] = call.route.split(" ");
    const lines = typeof call.body === "string";
    const text = lines ? String(call.body) : JSON.stringify(call.body);
    const body = call.body === undefined ? undefined : utf8.encode(text);
    const type = lines ? "application/x-ndjson" : "application/json";
    return {
      method,
      url: new URL(baseUrl + path),
      body,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { "content-type": type }),
        ...(call.decrypts ? credentialHeaders : {}),
        ...(call.decrypts ? await this.#sealHeaders(call) : {}),
        ...(call.idempotencyKey === undefined
          ? {}
          : { [HEADER.idempotencyKey]: call.idempotencyKey }),
      },
    };
  }

  /** Changes the form for a relayer that refuses the one in use; answers whether it did. */
  #changesForm(error: unknown): boolean {
    if (this.options.form !== "auto" || !(error instanceof SvcError)) return false;
    const isBound = this.#isHostBound === true;
    // It was upgraded, or did not answer before; or a proxy hides from it what it is called.
    const refused = isBound ? "audience_mismatch" : "upgrade_required";
    if (error.code !== refused) return false;
    this.#isHostBound = !isBound;
    return true;
  }

  /** Whether the relayer wants a credential that was not given, and that may be made. */
  #lacksCredential(call: Call, error: unknown): boolean {
    if (!call.decrypts || !(error instanceof SvcError) || !this.#makesSessions) return false;
    return error.code === "decrypt_credential_required" ||
      error.code === "decrypt_credential_invalid" && this.#sealSession !== undefined;
  }

  /** Whether a credential may be made: none was given. */
  get #makesSessions(): boolean {
    const { mayOpen, credentialHeaders, sessionToken } = this.options;
    // What is sent there lets its holder open memories for a while.
    const isGiven = Object.keys(credentialHeaders).length > 0 || sessionToken !== undefined;
    return mayOpen && !isGiven;
  }

  async #sealHeaders({ decrypts, signal }: Call): Promise<Record<string, string>> {
    const isMade = decrypts === "locked" && this.#makesSessions;
    if (this.#sealSession === undefined && !isMade) return {};
    const kept = await this.#sealSession?.catch(() => undefined);
    const due = kept === undefined || kept.renewAt <= this.options.now() + this.#clockOffset;
    if (due) this.#sealSession = this.#openSealSession(signal);
    return { [HEADER.sealSession]: (await this.#sealSession!).header };
  }

  async #openSealSession(signal: AbortSignal | undefined): Promise<SealSession> {
    const call = { route: "GET /config", unsigned: true, repeatable: true, signal } as const;
    const { packageId } = await this.json<AnswerOf<typeof call.route>>(call);
    // It becomes part of a text that the delegate key signs.
    if (!isObjectId(String(packageId))) {
      throw new SvcAnswerError("The answer names no package", 200);
    }
    const now = this.options.now() + this.#clockOffset;
    return await makeSealSession(await this.signer(), packageId, now);
  }

  /** Whether to sign for the relayer's address as well. */
  async #bindsHost(signal: AbortSignal): Promise<boolean> {
    if (this.options.form !== "auto") return this.options.form === "host-bound";
    if (this.#isHostBound === undefined) {
      this.#asking ??= this.#askHostBound(signal).finally(() => this.#asking = undefined);
      await this.#asking;
    }
    return this.#isHostBound ?? false;
  }

  /** Asks what the relayer offers; without an answer it is asked again before the next call. */
  async #askHostBound(signal: AbortSignal): Promise<void> {
    const { baseUrl, timeoutMs, headers, fetch } = this.options;
    const deadline = new Deadline(Math.min(VERSION_MS, timeoutMs), signal);
    const init = { headers, redirect: "manual", signal: deadline.signal } as const;
    try {
      const response = await deadline.wait(fetch(`${baseUrl}/version`, init));
      const version = parseObject(await deadline.wait(readCapped(response)) ?? "");
      if (response.status >= 500) return;
      const flags: unknown = Reflect.get(version ?? {}, "featureFlags");
      this.#isHostBound = Object(flags)[HOST_BOUND] === true;
    } catch {
      // The call itself says what is wrong.
    } finally {
      deadline.close();
    }
  }

  async #signatureHeaders(
    prepared: Prepared,
    signal: AbortSignal,
  ): Promise<Record<string, string>> {
    const { accountId, form, now, sessionToken } = this.options;
    if (sessionToken !== undefined) return { [HEADER.sessionToken]: sessionToken() };
    const { method, url, body = new Uint8Array() } = prepared;
    const [signer, isBound] = await Promise.all([this.signer(), this.#bindsHost(signal)]);
    const timestamp = String(Math.floor((now() + this.#clockOffset) / 1000));
    const nonce = form === "legacy" && url.search === "" ? undefined : randomUuid();
    const target = url.pathname + url.search;
    const audience = isBound ? url.origin : undefined;
    const hash = bodySha256(body);
    const fields = { timestamp, method, target, bodySha256: hash, nonce, accountId, audience };
    const signature = await signer.sign(canonicalText(fields));
    return {
      [HEADER.publicKey]: signer.publicKey,
      [HEADER.signature]: signature.toHex(),
      [HEADER.timestamp]: timestamp,
      ...(nonce === undefined ? {} : { [HEADER.nonce]: nonce }),
      ...(audience === undefined ? {} : { [HEADER.audience]: audience }),
      ...(accountId === undefined ? {} : { [HEADER.accountId]: accountId }),
    };
  }

  async #send(prepared: Prepared, call: Call, signal: AbortSignal): Promise<Response> {
    const signed = call.unsigned ? {} : await this.#signatureHeaders(prepared, signal);
    signal.throwIfAborted();
    let response: Response;
    try {
      response = await this.options.fetch(prepared.url.href, {
        method: prepared.method,
        headers: { ...prepared.headers, ...signed },
        redirect: "manual",
        ...(prepared.body === undefined ? {} : { body: prepared.body }),
        signal,
      });
    } catch (cause) {
      throw this.#broken(undefined, cause);
    }
    if (!isRedirect(response)) return response;
    await response.body?.cancel().catch(() => undefined);
    // A signature is valid for one address only.
    throw this.#broken("redirects: give its final address", undefined);
  }

  /** One sending with a deadline for the whole answer. */
  async #whole(prepared: Prepared, call: Call): Promise<{ response: Response; text: string }> {
    const deadline = new Deadline(this.options.timeoutMs, call.signal);
    try {
      return await deadline.wait(this.#answer(prepared, call, deadline.signal));
    } catch (error) {
      throw this.#ending(call, deadline) ?? error;
    } finally {
      deadline.close();
    }
  }

  async #answer(
    prepared: Prepared,
    call: Call,
    signal: AbortSignal,
  ): Promise<{ response: Response; text: string }> {
    const response = await this.#send(prepared, call, signal);
    const text = await readCapped(response).catch((cause: unknown) => {
      throw this.#broken("closed the connection too early", cause);
    });
    if (text === undefined) throw new SvcAnswerError("The answer is too large", response.status);
    if (response.ok || isHealth(call, response, text)) return { response, text };
    throw this.#refusal(response, text);
  }

  #refusal(response: Response, text: string): Error {
    this.#relayerDate = response.headers.get("date");
    return failureOf(response, text);
  }

  /** The rest of a body; each wait for more of it has the time of a whole answer. */
  #rest(body: ReadableStream<Uint8Array>, call: Call, deadline: Deadline) {
    deadline.stop();
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          deadline.restart();
          const { done, value } = await deadline.wait(reader.read());
          deadline.stop();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (cause) {
          controller.error(
            this.#ending(call, deadline) ?? this.#broken("ended the export too early", cause),
          );
        }
        deadline.close();
      },
      cancel: async (reason) => {
        deadline.close();
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }

  /** Why a wait was ended from this side. */
  #ending(call: Call, { signal }: Deadline): unknown {
    if (call.signal?.aborted) return call.signal.reason;
    const late = `did not answer within ${this.options.timeoutMs} ms`;
    return signal.aborted ? this.#broken(late, signal.reason) : undefined;
  }

  #broken(what: string | undefined, cause: unknown): SvcConnectionError {
    return new SvcConnectionError(this.options.baseUrl, what, { cause });
  }

  async #repeat<T>(call: Call, send: (prepared: Prepared) => Promise<T>): Promise<T> {
    let prepared = await this.#prepare(call);
    const safe = call.repeatable === true || call.idempotencyKey !== undefined;
    let resigned = false;
    let credentialed = false;
    let reformed = false;
    for (let attempt = 1;; attempt++) {
      try {
        return await send(prepared);
      } catch (error) {
        let wait = safe && attempt < this.options.attempts
          ? this.#waitAfter(error, attempt)
          : undefined;
        if (!resigned && error instanceof SvcError && error.code === "timestamp_out_of_range") {
          resigned = true; // refused before anything happened, so that any call may be sent again
          wait = this.#correctClock();
        }
        if (!reformed && this.#changesForm(error)) {
          reformed = true;
          wait = 0; // refused before anything happened as well
        }
        if (!credentialed && this.#lacksCredential(call, error)) {
          credentialed = true; // refused before anything happened as well
          this.#sealSession = this.#openSealSession(call.signal);
          prepared = await this.#prepare(call);
          wait = 0;
        }
        if (wait === undefined) throw error;
        if (wait > 0) await this.options.sleep(wait, call.signal);
      }
    }
  }

  /** Milliseconds to wait before a repetition; `undefined` when there shall be none. */
  #waitAfter(error: unknown, attempt: number): number | undefined {
    const { baseDelayMs, maxDelayMs } = this.options;
    const jitter = 0.5 + Math.random() / 2;
    const backoff = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1)) * jitter;
    if (error instanceof SvcConnectionError || isOfGateway(error) || isDoubled(error)) {
      return backoff;
    }
    if (!(error instanceof SvcError) || !error.retryable) return undefined;
    const asked = (error.retryAfter ?? 0) * 1000;
    return asked <= maxDelayMs ? Math.max(asked, backoff) : undefined;
  }

  /** Takes over the relayer's clock; answers how long to wait then. */
  #correctClock(): number {
    const theirs = Date.parse(this.#relayerDate ?? "");
    // In this process, and of another origin in a browser, no `Date` says that our clock is wrong.
    if (Number.isNaN(theirs)) return RESTART_WAIT_MS;
    const offset = theirs - this.options.now();
    const known = Math.abs(offset - this.#clockOffset) <= CLOCK_TOLERANCE_MS;
    this.#clockOffset = Math.abs(offset) <= CLOCK_TOLERANCE_MS ? 0 : offset;
    return known ? RESTART_WAIT_MS : 0;
  }
}

/** Whether a gateway answered for a relayer that it could not reach, or that left it without answer. */
function isOfGateway(error: unknown): boolean {
  return error instanceof SvcAnswerError && error.code === undefined &&
    GATEWAY_FAILURES.includes(error.status);
}

/**
 * Whether the platform sent a request twice, as Deno does when a kept connection ends without an
 * answer: the first answer is lost, and its nonce is used up.
 */
function isDoubled(error: unknown): boolean {
  return error instanceof SvcError && error.code === "nonce_reused";
}

/** Browsers show no more of a redirect than that it is one. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || status >= 300 && status < 400;
}

/** `GET /health` answers 503 with its usual body; error bodies have no member `status`. */
function isHealth(call: Call, response: Response, text: string): boolean {
  if (call.route !== "GET /health" || response.status !== 503) return false;
  return typeof Reflect.get(parseObject(text) ?? {}, HEALTH_STATUS) === "string";
}

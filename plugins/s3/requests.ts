// @ts-types="./signer_api.ts"
import { AwsV4Signer } from "aws4fetch";
import { createHash } from "node:crypto";
import { BoundedMap } from "../../src/bounded_map.ts";
import { Deadline, pause } from "../../src/deadline.ts";
import { SvcError } from "../../src/errors.ts";
import type { BackendHealth } from "../../src/interfaces/mod.ts";
import type { Secret } from "../../src/interfaces/plugin.ts";
import { gather } from "../../src/wire/body/read_body.ts";
import { CircuitBreaker } from "../shared/circuit_breaker.ts";
import { retryAfterOf } from "../shared/retry_after.ts";
import { unavailable, UpstreamFailure } from "../shared/upstream_failure.ts";
import { errorCode } from "./answers.ts";

/** Where a bucket is, and who asks. */
export interface BucketAddress {
  /** Address of the bucket, without a slash at its end. */
  readonly url: string;
  /** Region that requests are signed for. */
  readonly region: string;
  /** Name of the access key. */
  readonly accessKeyId: Secret;
  /** The key itself: it signs and is never sent. */
  readonly secretAccessKey: Secret;
  /** Token of temporary credentials. */
  readonly sessionToken?: Secret | undefined;
}

/** How long requests may take. */
export interface RequestBounds {
  /** Longest time of one try, from the first byte sent to the last one read, milliseconds. */
  readonly timeoutMs: number;
  /** Tries of a request that a server turned away for now. */
  readonly tries: number;
  /** Pause before the second try, milliseconds; it doubles for each one after that. */
  readonly pauseMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** A request for a bucket. */
export interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  /** Name of an object; the bucket itself when absent. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Most bytes of the answer. */
  readonly maxBytes?: number;
  /** Statuses and codes that are an answer here, such as `404 NoSuchKey`; `404` takes any code. */
  readonly accepts?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** An answer that arrived whole. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Most bytes of an answer that says no, or that holds nothing. */
const SHORT_BYTES = 65_536;
/** Statuses after which the same request may succeed soon. */
const AGAIN = [408, 409, 429, 500, 502, 503, 504];

/** What the operator has to mend, by the code that the server gave. */
const REASONS: Readonly<Record<string, string>> = {
  AccessDenied: "The object storage denies access: the key lacks a permission for the bucket",
  AuthorizationHeaderMalformed: "The object storage wants another region: check SVC_S3_REGION",
  ExpiredToken: "The object storage says that the credentials have expired",
  InvalidAccessKeyId: "The object storage does not know the access key",
  InvalidToken: "The object storage refuses the session token",
  NoSuchBucket: "The object storage has no such bucket",
  PermanentRedirect: "The bucket is in another region: check SVC_S3_ENDPOINT and SVC_S3_REGION",
  RequestTimeTooSkewed: "The object storage says that this machine's clock is wrong",
  SignatureDoesNotMatch: "The object storage refuses the signature: check the secret access key",
};

/** Why a bucket refused, or gave what cannot be used; the message is safe for callers. */
export class S3Failure extends UpstreamFailure {
  /** The code in its body, where it has one. */
  readonly code: string | undefined;

  constructor(
    message: string,
    about: ConstructorParameters<typeof UpstreamFailure>[1] & { code?: string | undefined } = {},
  ) {
    super(message, about);
    this.code = about.code;
  }

  /** Whether only the operator can end it: asking again changes nothing. */
  get isLasting(): boolean {
    const { status } = this;
    return status !== undefined && status >= 300 && status < 500 && !AGAIN.includes(status);
  }
}

function refusal(
  { status, headers, bytes }: S3Answer,
  code: string | undefined,
  now: number,
): S3Failure {
  const about = { status, code, retryAfter: retryAfterOf(headers, now) };
  const reason = code === undefined ? undefined : REASONS[code];
  if (reason !== undefined) return new S3Failure(reason, about);
  // Where it leads is nothing that the credentials are meant for.
  if (status >= 300 && status < 400) {
    const text = "The object storage redirects: check SVC_S3_ENDPOINT and SVC_S3_REGION";
    return new S3Failure(text, about);
  }
  if (status === 429 || status === 503) {
    return new S3Failure("The object storage asks for a pause", about);
  }
  if (status === 401 || status === 403) {
    return new S3Failure("The object storage refuses the credentials", about);
  }
  const isOdd = status < 400 || (status < 500 && bytes.length > 0 && code === undefined);
  return isOdd
    ? new S3Failure("What answers is no object storage: check SVC_S3_ENDPOINT", about)
    : new S3Failure(`The object storage answered with status ${status}`, about);
}

/** Signed requests for one bucket. Redirects are never followed, whatever they say. */
export class Requests {
  readonly #address: BucketAddress;
  readonly #bounds: RequestBounds;
  readonly #breaker: CircuitBreaker;
  readonly #closing = new AbortController();
  readonly #keys = new BoundedMap<string, ArrayBuffer>(2);

  constructor(address: BucketAddress, bounds: RequestBounds) {
    this.#address = address;
    this.#bounds = bounds;
    this.#breaker = new CircuitBreaker("storage_unavailable", { now: bounds.now });
  }

  /** What the last calls say about the server. */
  get health(): BackendHealth {
    return this.#breaker.health;
  }

  /** Throws the signal's reason when it was aborted, or the reason of closing once closed. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
  }

  /** Ends the requests under way with `storage_unavailable`, and refuses later ones. */
  close(): void {
    this.#closing.abort(new SvcError("storage_unavailable", "The store is closed"));
  }

  /**
   * Sends a request; again where the server turned it away for now.
   *
   * @throws {SvcError} `storage_unavailable`, caused by a {@linkcode S3Failure}, also where only the
   * operator can change something: what waits to be stored waits on. The reason of the signal.
   */
  async send(request: S3Request): Promise<S3Answer> {
    this.check(request.signal);
    const { tries, pauseMs } = this.#bounds;
    const closing = this.#closing.signal;
    const ends = request.signal ? AbortSignal.any([request.signal, closing]) : closing;
    for (let tried = 1;; tried++) {
      try {
        return await this.#try(request, ends);
      } catch (error) {
        const failure = error instanceof SvcError ? error.cause : undefined;
        const again = failure instanceof S3Failure && !failure.late && !failure.isLasting &&
          failure.retryAfter === undefined;
        if (tried >= tries || !again) throw error;
      }
      // Not all at the same time: what was turned away together would come back together.
      await pause(pauseMs * 2 ** (tried - 1) * (0.5 + Math.random()), ends);
      this.check(request.signal);
    }
  }

  async #try(request: S3Request, ends: AbortSignal): Promise<S3Answer> {
    const call = this.#breaker.enter();
    const late = new S3Failure("The object storage did not answer in time", { late: true });
    using deadline = new Deadline(this.#bounds.timeoutMs, ends, () => late);
    try {
      const answer = await deadline.wait(this.#ask(request, deadline.signal));
      this.#breaker.succeed(call);
      return answer;
    } catch (thrown) {
      if (ends.aborted) {
        this.#breaker.leave(call);
        throw ends.reason;
      }
      const failure = thrown instanceof S3Failure
        ? thrown
        : new S3Failure("The object storage cannot be reached");
      this.#breaker.fail(call, failure);
      throw unavailable("storage_unavailable", failure);
    }
  }

  async #ask(request: S3Request, signal: AbortSignal): Promise<S3Answer> {
    const { method, body, maxBytes = SHORT_BYTES, accepts = [] } = request;
    const { url, headers } = await this.#sign(request);
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal,
    }).catch((error) => {
      throw error instanceof Deno.errors.NotCapable
        ? new S3Failure("The relayer lacks the permission to reach the object storage")
        : error;
    });
    const tooLarge = () => new S3Failure("The object storage's answer is too large");
    const bytes = await gather(response, response.ok ? maxBytes : SHORT_BYTES, tooLarge);
    const answer = { status: response.status, headers: response.headers, bytes };
    if (response.ok) return answer;
    const code = errorCode(new TextDecoder().decode(bytes));
    const { status } = answer;
    if (accepts.includes(String(status)) || accepts.includes(`${status} ${code}`)) return answer;
    throw refusal(answer, code, this.#bounds.now());
  }

  async #sign({ method, name, query = {}, headers = {}, body }: S3Request) {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#address;
    const url = new URL(`${this.#address.url}/${name ?? ""}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    // `+` for a blank would be signed as one thing and read as another.
    url.search = url.search.replaceAll("+", "%20");
    const digest = createHash("sha256").update(body ?? "").digest("hex");
    return await new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": digest, "user-agent": "svc" },
      accessKeyId: accessKeyId.reveal(),
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
      service: "s3",
      region,
      cache: this.#keys,
      datetime: new Date(this.#bounds.now()).toISOString().replaceAll(/[-:]|\.\d+/g, ""),
    }).sign();
  }
}

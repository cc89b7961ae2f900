import { SvcError } from "../errors.ts";
import type { Mutation } from "../jobs/kv_writer.ts";
import type { KeptAnswer } from "../jobs/replay.ts";
import type { Domain } from "../memory/domain.ts";
import { HEADER } from "../wire/headers.ts";
import { isUuid } from "../wire/keys.ts";
import { SIGNED_BODY_BYTES } from "../wire/limits.ts";
import { parseBody } from "../wire/schemas.ts";
import { nativeBodySha256 } from "../wire/signing/verify.ts";
import type { AccountCache, Authorization } from "./account_cache.ts";
import { type AuthHeaders, checkSignature, idempotencyKeyOf, readAuthHeaders } from "./auth.ts";
import type { BodyReader } from "./body.ts";
import { checkJsonHeaders, parseJson } from "./json.ts";
import type { Charge, Layer, RateLimiter } from "./rate_limit.ts";
import type { RequestContext } from "./request_context.ts";
import type { Answer, Call, SignedRoute } from "./route.ts";
import type { KvWriter } from "../jobs/kv_writer.ts";
import type { ReplayStore } from "../jobs/replay.ts";
import { queryOf } from "./target.ts";

/** What the signed routes share. */
export interface SignedDependencies {
  /** The operations. */
  readonly domain: Domain;
  /** Who is who. */
  readonly accounts: AccountCache;
  /** Bodies. */
  readonly bodies: BodyReader;
  /** Weights. */
  readonly limiter: RateLimiter;
  /** What was used before. */
  readonly replay: ReplayStore;
  /** Writes kept answers. */
  readonly writer: KvWriter;
}

/** A request whose checks 1 to 10 have passed. */
interface Verified {
  readonly context: RequestContext;
  readonly route: SignedRoute;
  readonly id: string;
  readonly auth: AuthHeaders;
  readonly authorization: Authorization;
  readonly body: Uint8Array;
  readonly bodyHash: string;
  readonly text: string;
  readonly charges: readonly Charge[];
}

const FREE_READS = "free_reads";

/** Answers signed requests, in the order of checks of docs/protocol.md#4.3. */
export class SignedRoutes {
  readonly #deps: SignedDependencies;
  readonly #layers: readonly { readonly layer: Layer; readonly by: "key" | "owner" }[];
  readonly #free: Layer;

  /** Takes the limits from the configuration. */
  constructor(deps: SignedDependencies) {
    this.#deps = deps;
    const { rateLimit } = deps.domain.config;
    const { keyPerMinute, accountPerMinute, accountPerHour } = rateLimit;
    this.#layers = rateLimit.disabled ? [] : [
      { layer: { name: "delegate_key", limit: keyPerMinute, seconds: 60 }, by: "key" as const },
      ...(accountPerMinute === 0 ? [] : [{
        layer: { name: "account_burst", limit: accountPerMinute, seconds: 60 },
        by: "owner" as const,
      }]),
      { layer: { name: "account_sustained", limit: accountPerHour, seconds: 3600 }, by: "owner" },
    ];
    // One slot of a second in a window of sixty would smooth the rate away: a window of its own.
    this.#free = { name: FREE_READS, limit: rateLimit.freeReadsPerSecond, seconds: 1 };
  }

  /** Answers a request of a known route, or throws what it is refused with. */
  async answer(route: SignedRoute, id: string, context: RequestContext): Promise<Response> {
    const { domain, accounts, bodies } = this.#deps;
    const { request, target } = context;
    const declared = Number(request.headers.get("content-length") ?? 0);
    if (declared > SIGNED_BODY_BYTES) throw new SvcError("body_too_large");
    const auth = readAuthHeaders(
      request.headers,
      target,
      domain.config.requireNonce,
      domain.now(),
    );
    const body = await bodies.read(request, SIGNED_BODY_BYTES);
    const bodyHash = nativeBodySha256(body);
    const text = checkSignature(auth, request.method, target, bodyHash);
    const authorization = await accounts.authorize(
      auth.publicKey,
      auth.accountId?.toLowerCase(),
      context.clientIp,
    );
    const charges = this.#charges(auth.publicKey, authorization.account.owner);
    const verified: Verified = {
      context,
      route,
      id,
      auth,
      authorization,
      body,
      bodyHash,
      text,
      charges,
    };
    domain.keyUse.touch(authorization.key.publicKey, domain.now());
    try {
      const response = await this.#authenticated(verified);
      this.#addLimits(response.headers, charges);
      return response;
    } catch (error) {
      throw withLimits(error, this.#deps.limiter, charges);
    }
  }

  #charges(publicKey: string, owner: string): Charge[] {
    return this.#layers.map(({ layer, by }) => ({ layer, key: by === "key" ? publicKey : owner }));
  }

  #addLimits(headers: Headers, charges: readonly Charge[]): void {
    if (charges.length === 0) return;
    const { policy, state } = this.#deps.limiter.headers(charges);
    headers.set(HEADER.rateLimitPolicy, policy);
    headers.set(HEADER.rateLimit, state);
  }

  async #authenticated(verified: Verified): Promise<Response> {
    const { replay } = this.#deps;
    const { auth, route, text } = verified;
    if (auth.nonce === undefined) {
      return route.writes
        ? await this.#replayable(verified, undefined, `text ${auth.publicKey} ${text}`)
        : await this.#replayable(verified, undefined, undefined);
    }
    const burned = replay.burn(auth.publicKey, auth.nonce, Number(auth.timestamp));
    const nonce = { mutation: burned, written: false };
    try {
      return await this.#replayable(verified, nonce, undefined);
    } finally {
      // Used up whatever the answer was: on disk within a second, unless a commit took it along.
      if (!nonce.written) replay.later(burned);
    }
  }

  async #replayable(
    verified: Verified,
    nonce: { readonly mutation: Mutation; written: boolean } | undefined,
    textKey: string | undefined,
  ): Promise<Response> {
    const { route, authorization, context } = verified;
    const { replay } = this.#deps;
    const { account, key } = authorization;
    for (const permission of route.permissions) {
      if (!key.permissions.includes(permission)) throw new SvcError("permission_denied");
    }
    const sent = this.#idempotencyKey(verified);
    const idempotencyKey = sent === undefined
      ? undefined
      : `idempotency ${account.accountId} ${route.method} ${context.target.path} ${sent}`;
    const keys = [textKey, idempotencyKey].filter((item) => item !== undefined);
    const answer = async (): Promise<Response> => {
      const kept = await this.#kept(verified, textKey, idempotencyKey);
      this.#spend(verified, kept !== undefined);
      if (kept !== undefined) return replayed(kept);
      return await this.#process(verified, nonce, textKey, idempotencyKey);
    };
    return keys.length === 0 ? await answer() : await replay.once(keys, answer);
  }

  #idempotencyKey(verified: Verified): string | undefined {
    if (!verified.route.idempotent) return undefined;
    try {
      return idempotencyKeyOf(verified.context.request.headers);
    } catch (error) {
      this.#spend(verified, false); // limits are checked before values
      throw error;
    }
  }

  /** The first answer under either key, kept under both: each of them alone must give it later. */
  async #kept(
    verified: Verified,
    textKey: string | undefined,
    idempotencyKey: string | undefined,
  ): Promise<KeptAnswer | undefined> {
    const { replay, writer } = this.#deps;
    const { bodyHash } = verified;
    const byText = textKey === undefined ? undefined : replay.signedText(textKey);
    let byKey: KeptAnswer | undefined;
    try {
      if (idempotencyKey !== undefined) byKey = await replay.idempotent(idempotencyKey, bodyHash);
    } catch (error) {
      this.#spend(verified, false); // limits are checked before values
      throw error;
    }
    const kept = byText ?? byKey;
    if (kept === undefined) return undefined;
    if (idempotencyKey !== undefined && byKey === undefined) {
      await writer.commit([replay.keepIdempotent(idempotencyKey, bodyHash, kept)]);
    }
    if (textKey !== undefined && byText === undefined) {
      await writer.commit([replay.keepText(textKey, kept)]);
    }
    return kept;
  }

  #spend({ route, charges, auth }: Verified, replay: boolean): void {
    const { limiter, domain } = this.#deps;
    const { weights, disabled } = domain.config.rateLimit;
    if (disabled) return;
    let weight = replay ? 1 : weights[`${route.method} ${route.path}`] ?? route.weight;
    if (weight === 0) {
      try {
        limiter.spend([{ layer: this.#free, key: auth.publicKey }], 1);
      } catch {
        weight = 1;
      }
    }
    limiter.spend(charges, weight);
  }

  /** Content type, JSON, shape; then the handler, and the kept answer in its commit or after it. */
  async #process(
    verified: Verified,
    nonce: { readonly mutation: Mutation; written: boolean } | undefined,
    textKey: string | undefined,
    idempotencyKey: string | undefined,
  ): Promise<Response> {
    const { context, route, id, authorization, auth, bodyHash } = verified;
    const { domain, replay, writer } = this.#deps;
    const body = parseRequest(verified);
    if (route.path.includes(":id") && !isUuid(id)) {
      throw new SvcError(route.path.includes("memories") ? "memory_not_found" : "job_not_found");
    }
    const keeps = textKey !== undefined || idempotencyKey !== undefined;
    let kept: KeptAnswer | undefined;
    const mutations = (answer: Answer): Mutation[] => {
      if (nonce !== undefined) nonce.written = true;
      const burned = nonce === undefined ? [] : [nonce.mutation];
      if (!keeps) return burned;
      kept = { status: answer.status, body: JSON.stringify(answer.body) };
      return [
        ...burned,
        ...(textKey === undefined ? [] : [replay.keepText(textKey, kept)]),
        ...(idempotencyKey === undefined
          ? []
          : [replay.keepIdempotent(idempotencyKey, bodyHash, kept)]),
      ];
    };
    const call: Call<unknown> = {
      caller: {
        account: authorization.account,
        ...(auth.credential === undefined ? {} : { credential: auth.credential }),
        signal: context.request.signal,
      },
      key: authorization.key,
      body,
      id: id.toLowerCase(),
      query: queryOf(context.target),
      keep: mutations,
    };
    try {
      const answer = await route.handle(domain, call);
      const provisional = kept as KeptAnswer | undefined;
      if (keeps && provisional?.status !== answer.status) {
        const keeping = writer.commit(mutations(answer));
        // What the commit that accepted has kept is true as well, and the write has happened.
        await (provisional === undefined ? keeping : keeping.catch(() => {}));
      }
      return respond(answer.status, JSON.stringify(answer.body));
    } catch (error) {
      if (nonce !== undefined) nonce.written = false;
      if (textKey !== undefined) replay.dropText(textKey);
      throw error;
    }
  }
}

function parseRequest({ context, route, body }: Verified): unknown {
  if (route.schema === undefined) return undefined;
  if (body.length === 0 && route.optionalBody) return parseBody(route.schema, {});
  checkJsonHeaders(context.request.headers);
  return parseBody(route.schema, parseJson(body));
}

function respond(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "application/json" } });
}

function replayed(answer: KeptAnswer): Response {
  const response = respond(answer.status, answer.body);
  response.headers.set(HEADER.idempotencyReplayed, "true");
  return response;
}

/** Errors after authentication carry the limits too. */
const LIMIT_HEADERS = new WeakMap<SvcError, { policy: string; state: string }>();

function withLimits(thrown: unknown, limiter: RateLimiter, charges: readonly Charge[]): SvcError {
  const error = SvcError.from(thrown);
  if (charges.length > 0) LIMIT_HEADERS.set(error, limiter.headers(charges));
  return error;
}

/** The RateLimit headers of an error that was thrown after authentication. */
export function limitHeaders(error: SvcError): Record<string, string> {
  const limits = LIMIT_HEADERS.get(error);
  if (limits === undefined) return {};
  return { [HEADER.rateLimitPolicy]: limits.policy, [HEADER.rateLimit]: limits.state };
}

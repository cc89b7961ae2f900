import { SvcError } from "../errors.ts";
import type { Kept, KeptAnswer, Replay } from "../jobs/replay.ts";
import { mayRead } from "../memory/caller.ts";
import type { Domain } from "../memory/domain.ts";
import { unlockJobs } from "../memory/waiting/unlock.ts";
import { HEADER } from "../wire/headers.ts";
import { isUuid } from "../wire/keys.ts";
import { SIGNED_BODY_BYTES, WEIGHED_BYTES } from "../wire/limits.ts";
import { parseBody } from "../wire/request_members.ts";
import type { Route } from "../wire/route.ts";
import { rowOf } from "../wire/routes.ts";
import type { SignedName } from "../wire/route_types.ts";
import { nativeBodySha256 } from "../wire/signing/verify.ts";
import type { AccountCache, Authorization } from "./account_cache.ts";
import { type AuthHeaders, checkSignature, idempotencyKeyOf } from "./auth.ts";
import { Authentication } from "./authentication.ts";
import type { BodyReader } from "./body_reader.ts";
import { type Answer, Keeping, lasting } from "./keeping.ts";
import type { Grants } from "./oauth/grants.ts";
import { idsIn, namespacesIn, noteRequest, opensWaiting } from "./request_activity.ts";
import type { OwnAddress } from "./own_address.ts";
import { type SignedRequest, TOKEN_PURPOSE } from "./session_tokens.ts";
import {
  checkTypeHeaders,
  decodedId,
  JSON_TYPE,
  LINES_TYPE,
  parseJson,
  queryOf,
  type RequestContext,
  textOf,
} from "./request.ts";
import type { Charge, Layer, RateLimiter } from "./limits/rate_limit.ts";
import type { Call, SignedHandler } from "./route.ts";

export interface SignedDependencies {
  readonly domain: Domain;
  readonly accounts: AccountCache;
  readonly address: OwnAddress;
  /** The apps that were let in by OAuth. */
  readonly grants: Pick<Grants, "isOpen" | "fresh">;
  readonly bodies: BodyReader;
  readonly limiter: RateLimiter;
  readonly replay: Replay;
}

/** What a handler is given, whichever it is. */
interface CheckedCall extends
  Pick<
    Call<SignedName>,
    "caller" | "key" | "token" | "id" | "signed" | "spend" | "isOwnOrigin" | "mcp"
  > {
  readonly body: unknown;
  readonly query: unknown;
  keep<A extends Answer>(answer: A): Kept<A>;
}

/** Row and handler of a route, and what is known of it before any request. */
interface SignedRoute {
  readonly name: SignedName;
  readonly method: string;
  readonly row: Route;
  readonly weight: number;
  /** Whether what a request brings is accepted with its nonce, before anything is done. */
  readonly isAccepting: boolean;
  /** Whether a request changes nothing. */
  readonly isReading: boolean;
  /** Whether what waits may be opened for a request: it is read, or asked for. */
  readonly isOpening: boolean;
  /** Whether an answer is made while it is read. */
  readonly isStreamed: boolean;
  /** Error code for a path parameter that is no UUID; absent where the path has none. */
  readonly unknownId: "memory_not_found" | "job_not_found" | undefined;
  readonly handle: (
    domain: Domain,
    call: CheckedCall,
  ) => Answer | Response | Promise<Answer | Response>;
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
  /** What was signed; absent where nothing was. */
  readonly text: string | undefined;
  readonly charges: readonly Charge[];
  /** Namespaces that it names, once they are read. */
  readonly namespaces: Set<string>;
}

const FREE_READS = "free_reads";

/** Answers signed requests, in the order of checks of docs/protocol.md#4.3. */
export class SignedRoutes {
  readonly #deps: SignedDependencies;
  readonly #layers: readonly { readonly layer: Layer; readonly by: "key" | "owner" }[];
  readonly #free: Layer;
  readonly #authentication: Authentication;

  constructor(deps: SignedDependencies) {
    this.#deps = deps;
    const { domain, accounts, address, grants } = deps;
    const { config, now } = domain;
    const tokens = domain.sealer(TOKEN_PURPOSE);
    this.#authentication = new Authentication({
      config,
      accounts,
      address,
      tokens,
      grants,
      now,
    });
    const { rateLimit } = config;
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

  /** What answers the requests of a route, or throws what they are refused with. */
  route<N extends SignedName>(
    name: N,
    handle: SignedHandler<N>,
  ): (id: string, context: RequestContext) => Promise<Response> {
    const row = rowOf(name);
    const { weights } = this.#deps.domain.config.rateLimit;
    const route: SignedRoute = {
      name,
      method: name.slice(0, name.indexOf(" ")),
      row,
      weight: weights[name] ?? row.weight ?? 1,
      get isAccepting() {
        return row.writes === true && 202 in row.answers();
      },
      isReading: row.writes !== true && row.permissions?.join() === "read",
      isOpening: opensWaiting(name),
      isStreamed: name === "POST /api/export",
      unknownId: !name.includes(":id")
        ? undefined
        : name.includes("memories")
        ? "memory_not_found"
        : "job_not_found",
      // Body and query are checked against the row of this very name before it is called.
      handle: handle as unknown as SignedRoute["handle"],
    };
    return (id, context) => this.#answer(route, id, context);
  }

  async #answer(route: SignedRoute, id: string, context: RequestContext): Promise<Response> {
    const { domain, bodies, limiter, grants } = this.#deps;
    const { request, target } = context;
    if (request.headers.has(HEADER.sessionToken)) await grants.fresh();
    const declared = Number(request.headers.get("content-length") ?? 0);
    const { bodyBytes = SIGNED_BODY_BYTES } = route.row;
    if (declared > bodyBytes) throw new SvcError("body_too_large");
    const auth = this.#authentication.shown(route.row, context);
    const body = await bodies.read(request, bodyBytes, context.clientIp);
    const bodyHash = nativeBodySha256(body);
    // What a token stands for is used once, so that there is no text to know again.
    const text = auth.signature && checkSignature(auth, request.method, target, bodyHash);
    const authorization = await this.#authentication.authorize(auth, context);
    bodies.know(context.clientIp);
    const charges = this.#charges(auth.publicKey, authorization.account.owner);
    const namespaces = new Set<string>();
    const known = { context, route, id, auth, authorization };
    const verified = { ...known, body, bodyHash, text, charges, namespaces };
    const { key, account: { owner } } = authorization;
    using held = new DisposableStack();
    const hold = held.use(await domain.owners.hold(owner));
    domain.keyUse.touch(key.publicKey, domain.now(), owner);
    try {
      const response = await this.#authenticated(verified);
      await hold.settled();
      this.#note(verified, "ok");
      const limits = Object.entries(limiter.headers(charges));
      for (const [name, value] of limits) response.headers.set(name, value);
      return route.isStreamed ? lasting(response, held.move()) : response;
    } catch (thrown) {
      const error = SvcError.from(thrown);
      this.#note(verified, error.code);
      throw error.withHeaders(limiter.headers(charges));
    }
  }

  /** Tells the account's owner what was asked. */
  #note({ context, route, authorization, namespaces }: Verified, outcome: string): void {
    const { domain, address } = this.#deps;
    noteRequest(domain, { authorization, context, namespaces, outcome }, {
      action: route.name,
      from: address.whereIs(context),
    });
  }

  #charges(publicKey: string, owner: string): Charge[] {
    return this.#layers.map(({ layer, by }) => ({
      layer,
      key: by === "key" ? publicKey : owner,
      owner,
    }));
  }

  async #authenticated(verified: Verified): Promise<Response> {
    const { replay } = this.#deps;
    const { publicKey, nonce, timestamp } = verified.auth;
    if (nonce === undefined) {
      return await this.#replayable(verified, new Keeping(replay, verified, undefined));
    }
    const burned = replay.burn(publicKey, nonce, Number(timestamp));
    if (replay.isShared && !verified.route.isAccepting) {
      // Another relayer may know it: nothing is done before that is told.
      await replay.write([verified.route.isReading ? { ...burned, ofRead: true } : burned]);
      return await this.#replayable(verified, new Keeping(replay, verified, undefined));
    }
    const keeping = new Keeping(replay, verified, burned);
    try {
      return await this.#replayable(verified, keeping);
    } finally {
      // Used up whatever the answer was: on disk within a second, unless a commit took it along.
      await keeping.useNonce();
    }
  }

  async #replayable(verified: Verified, keeping: Keeping): Promise<Response> {
    const { route, authorization: { key } } = verified;
    for (const permission of route.row.permissions ?? []) {
      if (!key.permissions.includes(permission)) throw new SvcError("permission_denied");
    }
    keeping.idempotencyKey = this.#idempotencyKey(verified);
    const { textKey, idempotencyKey } = keeping;
    return await this.#once(textKey, async () => {
      const byText = textKey === undefined
        ? undefined
        : await this.#deps.replay.signedText(textKey, verified.bodyHash);
      // Whatever key comes along: the text does not cover it, so that a stranger may have chosen it.
      if (byText !== undefined) return this.#again(verified, byText);
      return await this.#once(idempotencyKey, async () => {
        const byKey = await this.#byKey(verified, keeping);
        if (byKey !== undefined) return this.#again(verified, byKey);
        this.#spend(verified, false);
        return await this.#process(verified, keeping);
      });
    });
  }

  /** Runs a request alone among those of one key; at once where it has none. */
  #once(key: string | undefined, run: () => Promise<Response>): Promise<Response> {
    return key === undefined ? run() : this.#deps.replay.once([key], run);
  }

  #again(verified: Verified, kept: KeptAnswer): Response {
    this.#spend(verified, true);
    return replayed(kept);
  }

  #idempotencyKey(verified: Verified): string | undefined {
    const { route, context, authorization } = verified;
    if (!route.row.idempotent) return undefined;
    try {
      const sent = idempotencyKeyOf(context.request.headers);
      if (sent === undefined) return undefined;
      const { account: { accountId }, key } = authorization;
      // What other keys have sent is nothing that a key may see without `read`, or of namespaces
      // that are not there for it.
      const isShared = mayRead({ key }) && key.namespaces === undefined;
      const sender = isShared ? accountId : `${accountId}/${key.publicKey}`;
      return `idempotency ${sender} ${route.method} ${context.target.path} ${sent}`;
    } catch (error) {
      this.#spend(verified, false); // limits are checked before values
      throw error;
    }
  }

  /** The first answer under the idempotency key, kept under the signed text as well. */
  async #byKey(
    verified: Verified,
    { textKey, idempotencyKey }: Keeping,
  ): Promise<KeptAnswer | undefined> {
    if (idempotencyKey === undefined) return undefined;
    const { replay } = this.#deps;
    let kept: KeptAnswer | undefined;
    try {
      kept = await replay.idempotent(idempotencyKey, verified.bodyHash);
    } catch (error) {
      this.#spend(verified, false); // limits are checked before values
      throw error;
    }
    if (kept !== undefined && textKey !== undefined) {
      await replay.write([replay.keepText(textKey, verified.bodyHash, kept)]);
    }
    return kept;
  }

  #spend({ route, charges, auth, authorization }: Verified, replay: boolean): void {
    const { limiter, domain } = this.#deps;
    if (domain.config.rateLimit.disabled) return;
    let weight = replay ? 1 : route.weight;
    if (weight === 0) {
      try {
        const { owner } = authorization.account;
        limiter.spend([{ layer: this.#free, key: auth.publicKey, owner }], 1);
      } catch {
        weight = 1;
      }
    }
    limiter.spend(charges, weight);
  }

  /** Charges for what is large. */
  #spendBytes({ charges }: Verified, bytes: number): void {
    if (bytes > WEIGHED_BYTES) {
      this.#deps.limiter.add(charges, Math.floor(bytes / WEIGHED_BYTES));
    }
  }

  /** Content type, JSON, shape; then the handler, and the kept answer in its commit or after it. */
  async #process(verified: Verified, keeping: Keeping): Promise<Response> {
    const { context, route, authorization, auth } = verified;
    const { domain, replay, address } = this.#deps;
    const body = parseRequest(verified);
    const id = decodedId(verified.id);
    if (route.unknownId !== undefined && !isUuid(id)) throw new SvcError(route.unknownId);
    const { query: members } = route.row;
    const query = members && parseBody(members, Object.fromEntries(queryOf(context.target)));
    for (const namespace of namespacesIn(body, query)) verified.namespaces.add(namespace);
    const call: CheckedCall = {
      caller: {
        account: authorization.account,
        key: authorization.key,
        ...(auth.credential === undefined ? {} : { credential: auth.credential }),
        signal: context.request.signal,
      },
      key: authorization.key,
      token: auth.token,
      body,
      id: id.toLowerCase(),
      query,
      signed: () => signedRequest(verified),
      spend: (bytes) => this.#spendBytes(verified, bytes),
      isOwnOrigin: (origin) => address.isOwnOrigin(origin, context),
      mcp: address.mcp,
      keep: (answer) => keeping.keep(answer),
    };
    try {
      const concern = { namespaces: verified.namespaces, ids: idsIn(call) };
      if (route.isOpening) await unlockJobs(domain, call.caller, concern);
      const answer = await route.handle(domain, call);
      if (answer instanceof Response) return answer;
      const provisional = keeping.kept;
      if (keeping.keys.length > 0 && provisional?.status !== answer.status) {
        const kept = replay.write(keeping.keepFinal(answer));
        // What the commit that accepted has kept is true as well, and the write has happened.
        await (provisional === undefined ? kept : kept.catch(() => {}));
      }
      const text = JSON.stringify(answer.body);
      // Charged afterwards: how much it is was not known before.
      this.#spendBytes(verified, text.length);
      return respond(answer.status, text);
    } catch (error) {
      keeping.undo();
      throw error;
    }
  }
}

function signedRequest({ auth, body }: Verified): SignedRequest {
  const { signature, timestamp, nonce, accountId, audience } = auth;
  if (signature === undefined) throw new SvcError("auth_headers_missing");
  return { body: textOf(body), signature, timestamp, nonce, accountId, audience };
}

function parseRequest({ context, route: { row }, body }: Verified): unknown {
  if (row.body === undefined) return undefined;
  if (body.length === 0 && row.optionalBody) return parseBody(row.body, {});
  checkTypeHeaders(context.request.headers, row.lines ? LINES_TYPE : JSON_TYPE);
  if (row.lines) return parseBody(row.body, textOf(body));
  return parseBody(row.body, parseJson(body));
}

function respond(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "application/json" } });
}

function replayed(answer: KeptAnswer): Response {
  const response = respond(answer.status, answer.body);
  response.headers.set(HEADER.idempotencyReplayed, "true");
  return response;
}

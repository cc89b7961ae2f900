import { SvcError } from "../errors.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { HEADER } from "../wire/headers.ts";
import type { Route } from "../wire/route.ts";
import type { AccountCache, Authorization } from "./account_cache.ts";
import { type AuthHeaders, type HeaderRules, readAuthHeaders } from "./auth.ts";
import type { OwnAddress } from "./own_address.ts";
import type { RequestContext } from "./request.ts";
import type { Grants } from "./oauth/grants.ts";
import { narrowed, openSessionToken } from "./session_tokens.ts";

/** What callers are known by. */
interface AuthenticationParts {
  readonly config: RelayerConfig;
  readonly accounts: AccountCache;
  readonly address: OwnAddress;
  /** Opens session tokens. */
  readonly tokens: Sealer;
  /** The apps that were let in by OAuth. */
  readonly grants: Pick<Grants, "isOpen">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Tells who asks: by a signature, or inside of the program by a session token. */
export class Authentication {
  readonly #parts: AuthenticationParts;

  constructor(parts: AuthenticationParts) {
    this.#parts = parts;
  }

  /**
   * What a request shows: the headers of a signature, well formed, or a token that opens.
   *
   * @throws {SvcError} what {@linkcode readAuthHeaders} and {@linkcode openSessionToken} throw;
   * `token_revoked` when the app of the token was shut out.
   */
  shown(row: Route, context: RequestContext): AuthHeaders {
    const { headers } = context.request;
    const { tokens, address, grants } = this.#parts;
    const now = this.#parts.now();
    const text = headers.get(HEADER.sessionToken);
    if (!context.isInternal || text === null || row.needsNonce) {
      return readAuthHeaders(headers, context.target, this.#rules(row, context), now);
    }
    const token = openSessionToken(tokens, text, [address.mcp, address.connect], now);
    // What was made of a grant ends with it.
    if (token.audience === address.connect && !grants.isOpen(token.publicKey)) {
      throw new SvcError("token_revoked");
    }
    const { publicKey, accountId, credential } = token;
    return {
      publicKey,
      accountId,
      credential,
      token,
      signature: undefined,
      timestamp: String(Math.floor(now / 1000)),
      nonce: crypto.randomUUID(),
      audience: undefined,
    };
  }

  #rules(row: Route, context: RequestContext): HeaderRules {
    const { config, address } = this.#parts;
    return {
      requireNonce: config.requireNonce || row.needsNonce === true,
      // What never left this program reached no other relayer.
      requireHostBound: config.requireHostBound && !context.isInternal,
      isOwnOrigin: (origin) => address.isOwnOrigin(origin, context),
      isExposed: !config.allowKeyOverHttp && address.isExposed(context),
    };
  }

  /**
   * The account and the key, as far as a token lets it.
   *
   * @throws {SvcError} `account_not_authorized`, `token_revoked`, `chain_unavailable`,
   * `rate_limited`.
   */
  async authorize(
    { publicKey, accountId, token }: AuthHeaders,
    { clientIp }: RequestContext,
  ): Promise<Authorization> {
    const hint = accountId?.toLowerCase();
    try {
      const found = await this.#parts.accounts.authorize(publicKey, hint, clientIp);
      return narrowed(found, token?.grant);
    } catch (error) {
      // The key was good when this relayer made the token.
      const isGone = token !== undefined && SvcError.from(error).code === "account_not_authorized";
      throw isGone ? new SvcError("token_revoked") : error;
    }
  }
}

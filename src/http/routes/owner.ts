import { z } from "zod";
import type { RelayerConfig } from "../../interfaces/config.ts";
import { SvcError } from "../../errors.ts";
import type { Account, AccountAdmin } from "../../interfaces/mod.ts";
import { timeText } from "../../memory/record.ts";
import { isHeld } from "../../wire/signing/key_proof.ts";
import { isObjectId } from "../../wire/keys.ts";
import { object, parseBody, Time } from "../../wire/schemas.ts";
import { nativeBodySha256 } from "../../wire/signing/verify.ts";
import { personalMessageSigner } from "../../wire/signing/wallet_proof.ts";
import { accountBody } from "../account_body.ts";
import { isLoopback, limitKey } from "../../wire/ip_addresses.ts";
import { isForwarded, namedClient } from "../client_ip.ts";
import { isKnownHost } from "../known_host.ts";
import { type Layer, RateLimiter } from "../rate_limit.ts";
import { baseUrl, hostOf, type RequestContext } from "../request_context.ts";
import type { Answer } from "../route.ts";

const CHALLENGE_MS = 300_000;
const MAX_CHALLENGES = 10_000;
const LAYER: Layer = { name: "owner_ip", limit: 10, seconds: 60 };

const ACTIONS = ["open", "create", "add_key", "remove_key", "deactivate", "reactivate"] as const;
type Action = typeof ACTIONS[number];

const params = z.record(z.string(), z.unknown());
const ChallengeBody = z.object({ address: z.string(), action: z.enum(ACTIONS), params });
const ProofBody = z.object({ challenge: z.string(), signature: z.string(), params });
const KeyBody = z.object({
  params: object({
    public_key: z.string(),
    label: z.string(),
    permissions: z.array(z.enum(["read", "write"])),
    expires_at: Time.optional(),
    proof: z.string().optional(),
  }),
});
const RemoveBody = z.object({ params: z.object({ public_key: z.string() }) });

/** Bodies of the owner routes, by path. */
export const OWNER_BODIES: Readonly<Record<string, z.ZodType>> = {
  "/accounts/challenge": ChallengeBody,
  "/accounts": ProofBody,
  "/accounts/open": ProofBody,
  "/accounts/{id}/keys": ProofBody.extend(KeyBody.shape),
  "/accounts/{id}/keys/remove": ProofBody.extend(RemoveBody.shape),
  "/accounts/{id}/deactivate": ProofBody,
  "/accounts/{id}/reactivate": ProofBody,
};

/** Members of a new key: a registry may name them as its interface or as the protocol does. */
const KEY_FIELDS: Readonly<Record<string, string>> = {
  publicKey: "public_key",
  public_key: "public_key",
  label: "label",
  permissions: "permissions",
  expiresAt: "expires_at",
  expires_at: "expires_at",
};

interface Challenge {
  readonly address: string;
  readonly action: Action;
  readonly paramsHash: string;
  readonly base: string;
  readonly expiresAt: number;
}

/** Members in a fixed order, so that a hash covers the values and not their spelling. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
    return `{${members.map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

function hashOf(value: unknown): string {
  return nativeBodySha256(new TextEncoder().encode(canonical(value)));
}

/** A registry's complaint about a new key, with the names a caller knows. */
function inProtocolTerms(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.field === undefined) return error;
  const name = KEY_FIELDS[error.field];
  if (name === undefined) return error;
  const message = error.message.replace(error.field, name);
  return new SvcError(error.code, message, { field: `params.${name}`, cause: error });
}

/** The owner routes of docs/protocol.md#9.2: each call carries the owner's wallet proof. */
export class OwnerRoutes {
  readonly #admin: AccountAdmin;
  readonly #config: RelayerConfig;
  readonly #now: () => number;
  readonly #limiter: RateLimiter;
  readonly #challenges = new Map<string, Challenge>();

  /** Manages accounts through `admin`. */
  constructor(admin: AccountAdmin, config: RelayerConfig, now: () => number) {
    this.#admin = admin;
    this.#config = config;
    this.#now = now;
    this.#limiter = new RateLimiter(now);
  }

  /**
   * Answers `POST /accounts{suffix}`.
   *
   * @param suffix what follows `/accounts`: empty, `/challenge`, or `/{id}/…`.
   */
  async answer(suffix: string, body: unknown, context: RequestContext): Promise<Answer> {
    this.#checkSurroundings(context);
    this.#limiter.spend([{ layer: LAYER, key: limitKey(context.clientIp) }], 1);
    if (suffix === "/challenge") return this.#challenge(body, context);
    if (suffix === "/open") return await this.#open(body, context);
    if (suffix === "") return await this.#create(body, context);
    const [, id, verb] = /^\/(0x[0-9a-fA-F]{64})\/(.+)$/.exec(suffix) ?? [];
    const actions: Record<string, Action> = {
      "keys": "add_key",
      "keys/remove": "remove_key",
      "deactivate": "deactivate",
      "reactivate": "reactivate",
    };
    const action = verb === undefined ? undefined : actions[verb];
    if (id === undefined || action === undefined) throw new SvcError("not_found");
    return await this.#change(id.toLowerCase(), action, body, context);
  }

  /** Host and Origin: a page of another origin can neither ask nor read. */
  #checkSurroundings(context: RequestContext): void {
    const { request } = context;
    if (!isKnownHost(hostOf(request), this.#config)) throw new SvcError("host_not_allowed");
    if (request.headers.get("origin") !== new URL(this.#config.webUrl).origin) {
      throw new SvcError("origin_not_allowed");
    }
  }

  #challenge(body: unknown, context: RequestContext): Answer {
    const { address, action, params } = parseBody(ChallengeBody, body);
    if (!isObjectId(address)) {
      throw new SvcError("invalid_parameter", "address: must be 0x and 64 hex characters", {
        field: "address",
      });
    }
    const now = this.#now();
    for (const [text, { expiresAt }] of this.#challenges) {
      if (expiresAt <= now || this.#challenges.size >= MAX_CHALLENGES) {
        this.#challenges.delete(text);
      }
    }
    const base = baseUrl(this.#config, context.request);
    const paramsHash = hashOf(params);
    const random = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const challenge = `svc owner request\nrelayer: ${base}\naction: ${action}\n` +
      `address: ${address.toLowerCase()}\nparams: ${paramsHash}\nnonce: ${random}`;
    const expiresAt = now + CHALLENGE_MS;
    const entry = { address: address.toLowerCase(), action, paramsHash, base, expiresAt };
    this.#challenges.set(challenge, entry);
    return { status: 200, body: { challenge, expires_at: timeText(expiresAt) } };
  }

  /** The proven owner and the parameters; a challenge is used up by its first try. */
  #prove(
    action: Action,
    body: unknown,
    context: RequestContext,
  ): { owner: string; params: Record<string, unknown> } {
    const { challenge, signature, params } = parseBody(ProofBody, body);
    const entry = this.#challenges.get(challenge);
    this.#challenges.delete(challenge);
    const signer = personalMessageSigner(new TextEncoder().encode(challenge), signature);
    if (
      entry === undefined || entry.expiresAt <= this.#now() || entry.action !== action ||
      entry.paramsHash !== hashOf(params) || signer !== entry.address ||
      entry.base !== baseUrl(this.#config, context.request)
    ) {
      throw new SvcError("owner_proof_invalid");
    }
    return { owner: entry.address, params };
  }

  #mayRegister({ peer, request: { headers } }: RequestContext): boolean {
    const { openRegistration, trustedProxies } = this.#config;
    if (openRegistration) return true;
    // The client too: behind a proxy on this machine every peer is a loopback address.
    const client = isForwarded(headers)
      ? namedClient(peer, headers.get("x-forwarded-for"), trustedProxies)
      : peer;
    return client !== undefined && isLoopback(peer) && isLoopback(client);
  }

  async #create(body: unknown, context: RequestContext): Promise<Answer> {
    if (!this.#mayRegister(context)) throw new SvcError("registration_closed");
    const { owner } = this.#prove("create", body, context);
    return { status: 201, body: accountBody(await this.#admin.create(owner)) };
  }

  /** The owner's account, made now when there is none: a sign-in takes one signature. */
  async #open(body: unknown, context: RequestContext): Promise<Answer> {
    const { owner } = this.#prove("open", body, context);
    const account = await this.#admin.ofOwner(owner);
    if (account !== undefined) return { status: 200, body: accountBody(account) };
    if (!this.#mayRegister(context)) throw new SvcError("registration_closed");
    try {
      return { status: 201, body: accountBody(await this.#admin.create(owner)) };
    } catch (error) {
      // Another sign-in of the same owner was faster.
      const made = SvcError.from(error).code === "account_exists"
        ? await this.#admin.ofOwner(owner)
        : undefined;
      if (made === undefined) throw error;
      return { status: 200, body: accountBody(made) };
    }
  }

  async #change(
    accountId: string,
    action: Action,
    body: unknown,
    context: RequestContext,
  ): Promise<Answer> {
    const { owner, params } = this.#prove(action, body, context);
    const own = await this.#admin.ofOwner(owner);
    if (own?.accountId !== accountId) throw new SvcError("owner_proof_invalid");
    const changed = await this.#apply(accountId, action, params);
    return { status: 200, body: accountBody(changed) };
  }

  async #apply(accountId: string, action: Action, params: unknown): Promise<Account> {
    if (action === "add_key") {
      const { params: key } = parseBody(KeyBody, { params });
      if (key.proof !== undefined && !isHeld(key.public_key, accountId, key.proof)) {
        throw new SvcError("owner_proof_invalid");
      }
      return await this.#admin.addKey(accountId, {
        publicKey: key.public_key,
        label: key.label,
        permissions: key.permissions,
        ...(key.expires_at === undefined ? {} : { expiresAt: key.expires_at }),
      }).catch((error) => {
        throw inProtocolTerms(error);
      });
    }
    if (action === "remove_key") {
      const { params: key } = parseBody(RemoveBody, { params });
      return await this.#admin.removeKey(accountId, key.public_key);
    }
    return await this.#admin.setActive(accountId, action === "reactivate");
  }
}

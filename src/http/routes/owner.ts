import type { RelayerConfig } from "../../interfaces/config.ts";
import { SvcError } from "../../errors.ts";
import type { Account, AccountAdmin } from "../../interfaces/mod.ts";
import { isHeld } from "../../wire/signing/verify.ts";
import { isObjectId } from "../../wire/keys.ts";
import { parseBody } from "../../wire/request_members.ts";
import { newKeyParams, removedKeyParams } from "../../wire/table/owner.ts";
import { accountBody } from "./memories.ts";
import { limitKey } from "../../wire/ip_addresses.ts";
import type { Domain } from "../../memory/domain.ts";
import type { OwnAddress } from "../own_address.ts";
import type { RequestContext } from "../request.ts";
import type { AddressLimiter } from "../limits/address_limits.ts";
import type { Layer } from "../limits/rate_limit.ts";
import { type OwnerAction, OwnerChallenges } from "./owner_challenge.ts";
import type { Answer, OpenCall, OpenHandlers } from "../route.ts";

const LAYER: Layer = { name: "owner_ip", limit: 10, seconds: 60 };

/** Members of a new key: a registry may name them as its interface or as the protocol does. */
const KEY_FIELDS: Readonly<Record<string, string>> = {
  publicKey: "public_key",
  public_key: "public_key",
  label: "label",
  permissions: "permissions",
  expiresAt: "expires_at",
  expires_at: "expires_at",
  namespaces: "namespaces",
};

/** Renames the field in a registry's error to the name that callers know. */
function inProtocolTerms(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.field === undefined) return error;
  const name = KEY_FIELDS[error.field];
  if (name === undefined) return error;
  const message = error.message.replace(error.field, name);
  return new SvcError(error.code, message, { field: `params.${name}`, cause: error });
}

/** What owner routes note and count with. */
interface OwnedParts extends Pick<Domain, "activity" | "now"> {
  readonly limiter: AddressLimiter;
}

/** The handlers of the owner routes: each call carries the proof of the owner's wallet. */
export function ownerHandlers(
  admin: AccountAdmin,
  address: OwnAddress,
  config: RelayerConfig,
  parts: OwnedParts,
): OpenHandlers<"owner"> {
  const accounts = new OwnedAccounts(admin, address, config, parts);
  const change = (action: OwnerAction) => (call: OpenCall) => accounts.change(action, call);
  return {
    "POST /accounts/challenge": (call) => accounts.challenge(call),
    "POST /accounts": (call) => accounts.create(call),
    "POST /accounts/open": (call) => accounts.open(call),
    "POST /accounts/:id/keys": change("add_key"),
    "POST /accounts/:id/keys/remove": change("remove_key"),
    "POST /accounts/:id/keys/remove_all": change("remove_all_keys"),
    "POST /accounts/:id/deactivate": change("deactivate"),
    "POST /accounts/:id/reactivate": change("reactivate"),
  };
}

class OwnedAccounts {
  readonly #admin: AccountAdmin;
  readonly #address: OwnAddress;
  readonly #config: RelayerConfig;
  readonly #activity: Domain["activity"];
  readonly #limiter: AddressLimiter;
  readonly #challenges: OwnerChallenges;

  constructor(
    admin: AccountAdmin,
    address: OwnAddress,
    config: RelayerConfig,
    { activity, now, limiter }: OwnedParts,
  ) {
    this.#activity = activity;
    this.#admin = admin;
    this.#address = address;
    this.#config = config;
    this.#limiter = limiter;
    this.#challenges = new OwnerChallenges(address, now);
  }

  /** Reads the body; refuses a wrong host or origin, and callers that ask too often. */
  async #admit({ context, body }: OpenCall): Promise<unknown> {
    const read = await body();
    this.#checkSurroundings(context);
    await this.#limiter.spend([{ layer: LAYER, key: limitKey(context.clientIp) }], 1);
    return read;
  }

  /** Checks Host and Origin, so that a page of another origin can neither ask nor read. */
  #checkSurroundings({ request }: RequestContext): void {
    this.#address.checkHost(request);
    if (request.headers.get("origin") !== new URL(this.#config.webUrl).origin) {
      throw new SvcError("origin_not_allowed");
    }
  }

  async challenge(call: OpenCall): Promise<Answer<"POST /accounts/challenge">> {
    return { status: 200, body: this.#challenges.issue(await this.#admit(call)) };
  }

  #mayRegister(context: RequestContext): boolean {
    return this.#config.openRegistration || this.#address.isLocal(context);
  }

  async create(call: OpenCall): Promise<Answer<"POST /accounts">> {
    const body = await this.#admit(call);
    if (!this.#mayRegister(call.context)) throw new SvcError("registration_closed");
    const { owner } = this.#challenges.prove("create", body);
    const account = await this.#admin.create(owner);
    this.#note(account.accountId, "create", call, "ok");
    return { status: 201, body: accountBody(account) };
  }

  /** Tells the owner what the wallet has proven. */
  #note(accountId: string, action: OwnerAction, { context }: OpenCall, outcome: string): void {
    const from = this.#address.whereIs(context);
    this.#activity.note({ accountId, key: "owner", action, via: "http", from, outcome });
  }

  /** The owner's account, made now when there is none: a sign-in takes one signature. */
  async open(call: OpenCall): Promise<Answer<"POST /accounts/open">> {
    const { owner } = this.#challenges.prove("open", await this.#admit(call));
    const answer = await this.#opened(owner, call);
    this.#note(answer.body.account_id, "open", call, "ok");
    return answer;
  }

  async #opened(owner: string, call: OpenCall): Promise<Answer<"POST /accounts/open">> {
    const account = await this.#admin.ofOwner(owner);
    if (account !== undefined) return { status: 200, body: accountBody(account) };
    if (!this.#mayRegister(call.context)) throw new SvcError("registration_closed");
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

  async change(action: OwnerAction, call: OpenCall): Promise<Answer<"POST /accounts/:id/keys">> {
    const body = await this.#admit(call);
    if (!isObjectId(call.id)) throw new SvcError("not_found");
    const accountId = call.id.toLowerCase();
    const { owner, params } = this.#challenges.prove(action, body);
    const own = await this.#admin.ofOwner(owner);
    if (own?.accountId !== accountId) throw new SvcError("owner_proof_invalid");
    try {
      const account = await this.#apply(own, action, params);
      this.#note(accountId, action, call, "ok");
      return { status: 200, body: accountBody(account) };
    } catch (error) {
      this.#note(accountId, action, call, SvcError.from(error).code);
      throw error;
    }
  }

  async #removeKeys(account: Account): Promise<Account> {
    let left = account;
    for (let key = left.keys[0]; key !== undefined; key = left.keys[0]) {
      left = await this.#admin.removeKey(left.accountId, key.publicKey);
    }
    return left;
  }

  async #apply(account: Account, action: OwnerAction, params: unknown): Promise<Account> {
    const { accountId } = account;
    if (action === "add_key") {
      const { params: key } = parseBody(newKeyParams, { params });
      if (!isHeld(key.public_key, accountId, key.proof)) {
        throw new SvcError("owner_proof_invalid");
      }
      return await this.#admin.addKey(accountId, {
        publicKey: key.public_key,
        label: key.label,
        permissions: key.permissions,
        ...(key.expires_at === undefined ? {} : { expiresAt: key.expires_at }),
        ...(key.namespaces === undefined ? {} : { namespaces: key.namespaces }),
      }).catch((error) => {
        throw inProtocolTerms(error);
      });
    }
    if (action === "remove_key") {
      const { params: key } = parseBody(removedKeyParams, { params });
      return await this.#admin.removeKey(accountId, key.public_key);
    }
    if (action === "remove_all_keys") return await this.#removeKeys(account);
    return await this.#admin.setActive(accountId, action === "reactivate");
  }
}

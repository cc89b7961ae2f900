import { SvcError } from "../../../src/errors.ts";
import type { AnswerOf, NamesOf, Sent } from "../../../src/wire/route_types.ts";
import { postJson } from "../connect/post_json.ts";
import type { Wallet } from "../wallet/wallet.ts";
import type { Account, NewKey } from "./account.ts";
import type { Owner } from "./owner.ts";

/** Longest pause the relayer may ask for before the user is told instead, in seconds. */
const LONGEST_PAUSE = 60;

type Asked = Sent<"POST /accounts/challenge">;
type Changed = AnswerOf<Exclude<NamesOf<"owner">, "POST /accounts/challenge">>;

/** Told when the relayer asks for a pause, with its end in milliseconds since the epoch. */
export type OnPause = (until: number | undefined) => void;

/** Changes to an account of this relayer, each proven by the owner's wallet (docs/protocol.md#9.2). */
export class OwnerClient implements Owner {
  readonly #relayerUrl: string;
  readonly #onPause: OnPause;

  /** For the relayer at this address. */
  constructor(relayerUrl: string, onPause: OnPause = () => {}) {
    this.#relayerUrl = relayerUrl;
    this.#onPause = onPause;
  }

  /** The wallet's account, made when there is none. */
  open(wallet: Wallet): Promise<Account> {
    return this.#prove(wallet, "open", "/accounts/open", {});
  }

  /** Adds a key. */
  addKey(wallet: Wallet, accountId: string, key: NewKey): Promise<Account> {
    return this.#prove(wallet, "add_key", `/accounts/${accountId}/keys`, {
      ...key,
    });
  }

  /** Removes a key. */
  removeKey(
    wallet: Wallet,
    accountId: string,
    publicKey: string,
  ): Promise<Account> {
    const params = { public_key: publicKey };
    return this.#prove(
      wallet,
      "remove_key",
      `/accounts/${accountId}/keys/remove`,
      params,
    );
  }

  /** Removes every key at once. */
  removeAllKeys(wallet: Wallet, accountId: string): Promise<Account> {
    return this.#prove(wallet, "remove_all_keys", `/accounts/${accountId}/keys/remove_all`, {});
  }

  /** Switches every key of the account off, or on again. */
  setActive(
    wallet: Wallet,
    accountId: string,
    active: boolean,
  ): Promise<Account> {
    const action = active ? "reactivate" : "deactivate";
    return this.#prove(wallet, action, `/accounts/${accountId}/${action}`, {});
  }

  async #prove(
    wallet: Wallet,
    action: Asked["action"],
    path: string,
    params: Asked["params"],
  ): Promise<Account> {
    const { address } = wallet;
    const asked: Asked = { address, action, params };
    const { challenge } = await this.#post<AnswerOf<"POST /accounts/challenge">>(
      "/accounts/challenge",
      asked,
    );
    const isOurs = challenge.startsWith("svc owner request\n") &&
      challenge.includes(`\naction: ${action}\naddress: ${address}\nparams: `);
    if (!isOurs) throw new Error("The relayer asked for a signature over something else");
    const signature = await wallet.signPersonalMessage(challenge);
    const proof: Sent<"POST /accounts"> = { challenge, signature, params };
    return await this.#post<Changed>(path, proof);
  }

  /** One POST; a pause that the relayer asks for is kept, since nothing has happened before it. */
  async #post<T>(path: string, body: unknown): Promise<T> {
    for (;;) {
      try {
        return await postJson(this.#relayerUrl, path, body);
      } catch (error) {
        const pause = error instanceof SvcError && error.code === "rate_limited"
          ? error.retryAfter
          : undefined;
        if (pause === undefined || pause > LONGEST_PAUSE) throw error;
        this.#onPause(Date.now() + pause * 1000);
        await new Promise((resolve) => setTimeout(resolve, pause * 1000));
        this.#onPause(undefined);
      }
    }
  }
}

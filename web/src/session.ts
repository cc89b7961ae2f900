import { SvcClient } from "../../src/client/client.ts";
import { SvcConnectionError } from "../../src/client/failures.ts";
import { type ErrorCode, SvcError } from "../../src/errors.ts";
import { keepKnownKeys, knownKeys } from "./activity/known_keys.ts";
import type { WebConfig } from "./config.ts";
import {
  alone,
  dropPageKey,
  makePageKey,
  type PageKey,
  readPageKey,
  signerOf,
} from "./memory/page_key.ts";
import { Deletions } from "./memory/delete/deletions.ts";
import { KeptDeletions } from "./memory/delete/kept_deletions.ts";
import { Outbox } from "./memory/delete/presigned.ts";
import { type ExportSurroundings, FileExport } from "./memory/export/file_export.ts";
import { FileImport, type ImportPlan } from "./memory/import/file_import.ts";
import type { Account } from "./owner/account.ts";
import { loadChainOwner } from "./chain/load_owner.ts";
import { deferredOwner } from "./owner/deferred_owner.ts";
import type { Owner } from "./owner/owner.ts";
import { OwnerClient } from "./owner/owner_client.ts";
import { dropAll, keep, read } from "./storage.ts";
import { BrowserWallet } from "./wallet/browser_wallet.ts";
import type { KeyPair } from "./wallet/ed25519.ts";
import { walletPrograms } from "./wallet/standard_wallet.ts";
import type { Wallet } from "./wallet/wallet.ts";

/** What is kept of somebody who is signed in. */
export interface SignedIn {
  /** A key in this browser, or a wallet program. */
  readonly kind: Wallet["kind"];
  /** Name of the wallet. */
  readonly name: string;
  /** Address of the owner. */
  readonly address: string;
  /** Their account. */
  readonly accountId: string;
  /** Whether its keys work. */
  readonly active: boolean;
  /** The key, where it lies in this browser, and the words that it was made of. */
  readonly pair?: KeyPair;
  readonly words?: string;
  /** Whether the recovery key was shown and confirmed. */
  readonly backedUp: boolean;
}

const NAME = "signed-in";
/** Tabs tell each other by this name which account the browser is signed in to. */
const TABS = "svc-signed-in";
/** How long what happens is taken for what a click asked for, in milliseconds. */
const CLICK_MS = 5000;
/** How long signing out waits for the removal of the page's key, in milliseconds. */
const LEAVE_MS = 5000;
/** How long a refusal of the page's key counts, unless the user clicks, in milliseconds. */
const REFUSED_MS = 60_000;

const isRefusal = (error: unknown, code: ErrorCode): boolean =>
  error instanceof SvcError && error.code === code;

/** Who uses the page: their wallet, their account, and the page's own key to their memories. */
export class Session {
  readonly config: WebConfig;
  readonly owner: Owner;
  /** Who is signed in; `undefined` when nobody is. */
  who: SignedIn | undefined;
  /** When the relayer takes changes again, milliseconds since the epoch. */
  pausedUntil: number | undefined;
  /** Value of the newest `RateLimit` header. */
  rateLimit: string | undefined;
  /** Imports by their namespace: they go on whatever page is shown. */
  readonly imports = new Map<string, FileImport>();
  /** The newest export, which goes on as well. */
  exporting: FileExport | undefined;
  /** What was deleted just now, and can be undone for a while. */
  readonly deletions: Deletions;
  readonly #outbox = new Outbox();
  readonly #kept = new KeptDeletions();
  #wallet: Wallet | undefined;
  #client: Promise<SvcClient> | undefined;
  /** Why there can be no page key; nobody asks for one all the time. */
  #refusal: { readonly error: unknown; readonly at: number } | undefined;
  /** The replacement of a refused page key that is under way. */
  #mending: Promise<void> | undefined;
  readonly #tabs = new BroadcastChannel(TABS);
  /** Somebody has just signed in, and expects questions of the wallet. */
  #expectsQuestion = false;
  /** When the user clicked last, also by the keyboard. */
  #clickedAt = -Infinity;
  readonly #listeners = new Set<() => void>();

  /** Nobody is signed in until {@linkcode start}. */
  constructor(config: WebConfig) {
    this.config = config;
    this.owner = config.accounts === "chain"
      ? deferredOwner(() => loadChainOwner(config))
      : new OwnerClient(config.relayerUrl, (until) => {
        this.pausedUntil = until;
        this.#changed();
      });
    this.deletions = new Deletions({
      ask: (use) => this.ask(use),
      sign: (name, use) => this.#outbox.sign(name, () => this.ask(use)),
      changed: () => this.#changed(),
      keep: (memory) => this.#kept.add(this.#signedIn().accountId, memory),
      settle: (memoryId) => this.#kept.remove(memoryId),
    });
  }

  /** Takes up what this browser kept. */
  async start(): Promise<void> {
    addEventListener("click", (event) => {
      if (event.isTrusted) this.#clickedAt = Date.now();
    }, { capture: true });
    // Another tab signed in or out: what this one shows and holds is not the user's any more.
    this.#tabs.onmessage = async ({ data }) => {
      if (data !== (this.who?.accountId ?? null)) return location.reload();
      // The same account: it may have been switched off or on, or its key saved.
      this.who = await read<SignedIn>(NAME);
      this.#changed();
    };
    this.who = await read<SignedIn>(NAME);
    if (this.who?.pair !== undefined) {
      this.#wallet = new BrowserWallet(this.who.pair, this.who.words);
    }
    const { accountId } = this.who ?? {};
    if (accountId === undefined) return;
    this.#kept.watch(accountId, (left) => {
      if (this.who?.accountId === accountId) this.deletions.finishLate(left);
    });
  }

  /** Calls back on every change; answers how to stop. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Proves the wallet's address, opens or makes its account, and keeps both. */
  async signIn(wallet: Wallet): Promise<void> {
    await this.#openAccount(wallet);
    this.#client = undefined;
    this.#refusal = undefined;
    this.#expectsQuestion = true;
    // Keys of a site are deleted when space is short, unless they are asked to stay.
    // A browser may ask its user about it: nobody waits for that.
    void navigator.storage?.persist?.().catch(() => false);
  }

  async #openAccount(wallet: Wallet): Promise<string> {
    const account = await this.owner.open(wallet);
    const { pair, words } = wallet instanceof BrowserWallet ? wallet : {};
    this.#wallet = wallet;
    const { kind, name, address } = wallet;
    const { account_id: accountId, active, keys } = account;
    // What the owner finds on the first visit is nothing that happened since the last one.
    if (await knownKeys(accountId) === undefined) {
      await keepKnownKeys(accountId, keys.map(({ public_key: key }) => key));
    }
    await this.#keep({
      kind,
      name,
      address,
      accountId,
      active,
      backedUp: this.who?.address === address && this.who.backedUp,
      ...(pair === undefined ? {} : { pair }),
      ...(words === undefined ? {} : { words }),
    });
    return accountId;
  }

  /** Notes that the recovery key is saved elsewhere. */
  async markBackedUp(): Promise<void> {
    if (this.who !== undefined) {
      await this.#keep({ ...this.who, backedUp: true });
    }
  }

  /** The wallet, connected again where it is a program. */
  async wallet(): Promise<Wallet> {
    if (this.#wallet !== undefined) return this.#wallet;
    const { name, address } = this.who ?? { name: "", address: "" };
    const program = walletPrograms().find((item) => item.name === name);
    const wallet = await program?.connect({ address });
    if (wallet === undefined) {
      throw new Error(`The wallet ${name} is locked or not there`);
    }
    return this.#wallet = wallet;
  }

  /** A change to the account, proven by the wallet. */
  async change(
    change: (
      owner: Owner,
      wallet: Wallet,
      accountId: string,
    ) => Promise<Account>,
  ): Promise<Account> {
    const { accountId } = this.#signedIn();
    const account = await change(this.owner, await this.wallet(), accountId);
    const { who } = this;
    if (who?.accountId === accountId && account.active !== who.active) {
      await this.#keep({ ...who, active: account.active });
    }
    return account;
  }

  /** A question about memories, signed by the page's own key. */
  async ask<T>(use: (client: SvcClient) => Promise<T>): Promise<T> {
    const client = this.#signedClient();
    try {
      return await use(await client);
    } catch (error) {
      if (!isRefusal(error, "account_not_authorized") || this.who?.active === false) throw error;
      // Questions are asked side by side and refused together: one of them mends it for all.
      if (this.#client === client) {
        this.#mending ??= this.#replacePageKey(await client)
          .finally(() => this.#mending = undefined);
      }
      await this.#mending;
      return await use(await this.#signedClient());
    }
  }

  /** The key was removed, or the relayer lost its accounts: a new key heals both. */
  async #replacePageKey(refused: SvcClient): Promise<void> {
    this.#checkMoment();
    // Another tab may have replaced it already.
    await dropPageKey(await refused.publicKey());
    this.#expectsQuestion = true;
    this.#client = undefined;
    await this.#signedClient();
  }

  /** What works beside the page; it ends with the account that it was begun for. */
  #surroundings(): ExportSurroundings {
    const { accountId } = this.#signedIn();
    return {
      ask: (use) => {
        if (this.who?.accountId === accountId) return this.ask(use);
        return Promise.reject(new Error("Somebody else is signed in"));
      },
      changed: () => this.#changed(),
    };
  }

  /** Saves what files hold. */
  startImport(plan: ImportPlan): void {
    const work = new FileImport(plan, this.#surroundings());
    this.imports.set(plan.namespace, work);
    void work.run();
  }

  /** Writes a file of the memories of a namespace, or of all. */
  startExport(namespace: string | undefined, expected: number): void {
    this.exporting = new FileExport(namespace, expected, this.#surroundings());
    void this.exporting.run();
  }

  /** Forgets everybody and everything in this browser. */
  async signOut(): Promise<void> {
    const { who } = this;
    this.exporting?.stop();
    this.exporting = undefined;
    for (const work of this.imports.values()) work.stop();
    await Promise.race([this.deletions.finish(), new Promise((end) => setTimeout(end, LEAVE_MS))]);
    const key = who && await readPageKey(who.accountId);
    if (who?.kind === "browser" && key !== undefined) {
      const removed = this.change((owner, wallet, id) => owner.removeKey(wallet, id, key.publicKey))
        .catch(() => undefined);
      // The key ends by itself; whoever leaves a browser does not wait for a relayer or a chain.
      await Promise.race([removed, new Promise((resolve) => setTimeout(resolve, LEAVE_MS))]);
    }
    await dropAll();
    this.#kept.clear();
    this.imports.clear();
    this.#wallet = undefined;
    this.#client = undefined;
    this.who = undefined;
    this.#tabs.postMessage(null);
    this.#changed();
  }

  #signedIn(): SignedIn {
    if (this.who === undefined) throw new Error("Nobody is signed in");
    return this.who;
  }

  #signedClient(): Promise<SvcClient> {
    const { error, at = -Infinity } = this.#refusal ?? {};
    const isOld = Date.now() - at > REFUSED_MS || this.#clickedAt > at;
    if (this.#client === undefined && !isOld) return Promise.reject(error);
    this.#client ??= this.#openClient().catch((error) => {
      this.#client = undefined;
      if (!(error instanceof SvcConnectionError)) this.#refusal = { error, at: Date.now() };
      throw error;
    });
    return this.#client;
  }

  async #openClient(): Promise<SvcClient> {
    const { accountId } = this.#signedIn();
    // Two tabs would make two keys.
    const key = await alone(async () =>
      await readPageKey(accountId) ?? await this.#makePageKey(accountId)
    );
    setTimeout(
      () => this.#client = undefined,
      Math.max(0, key.expiresAt - Date.now() - 600_000),
    );
    return new SvcClient({
      baseUrl: this.config.relayerUrl,
      signer: signerOf(key),
      accountId: key.accountId,
      fetch: async (url, init) => {
        const response = await this.#outbox.send(url, init);
        this.rateLimit = response.headers.get("ratelimit") ?? this.rateLimit;
        return response;
      },
    });
  }

  async #makePageKey(accountId: string): Promise<PageKey> {
    if (!this.#expectsQuestion) this.#checkMoment();
    this.#expectsQuestion = false;
    const wallet = await this.wallet();
    const { key, active } = await makePageKey(this.owner, wallet, accountId)
      .catch(async (error) => {
        if (!isRefusal(error, "owner_proof_invalid")) throw error;
        // The relayer does not know the account any more: the owner gets one anew.
        return await makePageKey(this.owner, wallet, await this.#openAccount(wallet));
      });
    if (this.who !== undefined && this.who.active !== active) {
      await this.#keep({ ...this.who, active });
    }
    return key;
  }

  /** A wallet program asks its user: only after a click, never because a page looks for news. */
  #checkMoment(): void {
    if (this.who?.kind === "browser" || Date.now() - this.#clickedAt < CLICK_MS) return;
    throw new Error("Your wallet has to confirm that this page may read. Try again to be asked.");
  }

  async #keep(who: SignedIn): Promise<void> {
    await keep(NAME, who);
    this.who = who;
    this.#tabs.postMessage(who.accountId);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

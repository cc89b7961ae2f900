import {
  type AccountState,
  type ContractEvent,
  type IndexName,
  VERSION,
  type World,
} from "../../contracts/mirror.ts";

const nameOf = (name: IndexName): string =>
  name.kind === "owner" ? `owner ${name.owner}` : `key ${name.publicKey}`;

/** Everything the contract keeps, in memory. */
export class MemoryWorld implements World {
  sender = "0x" + "0".repeat(64);
  now = 0n;
  codeVersion = VERSION;
  registryVersion = VERSION;
  readonly accounts = new Map<string, AccountState>();
  readonly index = new Map<string, string>();
  readonly events: ContractEvent[] = [];
  #ids = 0;

  /** Sender and time of what follows. */
  as(sender: string, now: bigint = this.now): this {
    this.sender = sender;
    this.now = now;
    return this;
  }

  account(id: string): AccountState {
    const account = this.accounts.get(id);
    if (account === undefined) throw new Error("no such account");
    return account;
  }

  putAccount(account: AccountState): void {
    this.accounts.set(account.id, account);
  }

  deleteAccount(id: string): void {
    if (!this.accounts.delete(id)) throw new Error("no such account");
  }

  indexGet(name: IndexName): string | undefined {
    return this.index.get(nameOf(name));
  }

  indexSet(name: IndexName, accountId: string): void {
    if (this.index.has(nameOf(name))) throw new Error("the entry exists");
    this.index.set(nameOf(name), accountId);
  }

  indexRemove(name: IndexName): void {
    if (!this.index.delete(nameOf(name))) throw new Error("no such entry");
  }

  freshId(): string {
    return "0x" + (0xacc0 + ++this.#ids).toString(16).padStart(64, "0");
  }

  emit(event: ContractEvent): void {
    this.events.push(event);
  }
}

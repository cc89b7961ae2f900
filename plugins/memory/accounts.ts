import { blake2b } from "@noble/hashes/blake2.js";
import type {
  Account,
  AccountAdmin,
  AccountListener,
  AccountRegistry,
  DelegateKey,
  NewKey,
  Permission,
} from "../../src/interfaces/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { addressOf, isLowOrder, isObjectId, isPublicKey } from "../../src/wire/keys.ts";
import { Gate } from "./gate.ts";

const MAX_KEYS = 100;
const MAX_LABEL_BYTES = 64;
const PERMISSIONS: readonly Permission[] = ["read", "write"];

/** `0x` and BLAKE2b-256 of `svc-local-account:` and the owner's address, in hex. */
function accountIdOf(owner: string): string {
  const bytes = new TextEncoder().encode(`svc-local-account:${owner}`);
  return `0x${blake2b(bytes, { dkLen: 32 }).toHex()}`;
}

function refuse(field: string, message: string): never {
  throw new SvcError("invalid_parameter", message, { field });
}

function delegateKey(key: NewKey, now: number): DelegateKey {
  if (!isPublicKey(key.publicKey) || isLowOrder(Uint8Array.fromHex(key.publicKey))) {
    refuse("publicKey", "publicKey is not a usable Ed25519 key");
  }
  const labelBytes = new TextEncoder().encode(key.label).length;
  if (labelBytes < 1 || labelBytes > MAX_LABEL_BYTES) {
    refuse("label", `label must have 1 to ${MAX_LABEL_BYTES} bytes`);
  }
  const unknown = key.permissions.some((permission) => !PERMISSIONS.includes(permission));
  if (unknown || key.permissions.length === 0) {
    refuse("permissions", "permissions must name read, write or both");
  }
  if (key.expiresAt !== undefined && !(key.expiresAt > now)) {
    refuse("expiresAt", "expiresAt must be in the future");
  }
  const publicKey = key.publicKey.toLowerCase();
  return {
    publicKey,
    address: addressOf(publicKey),
    label: key.label,
    permissions: PERMISSIONS.filter((permission) => key.permissions.includes(permission)),
    createdAt: now,
    ...(key.expiresAt === undefined ? {} : { expiresAt: key.expiresAt }),
  };
}

/** Accounts by id, and the listeners that are told of changes. */
class Accounts {
  readonly byId = new Map<string, Account>();
  readonly listeners = new Set<{ readonly call: AccountListener }>();

  holding(publicKey: string): Account | undefined {
    const wanted = publicKey.toLowerCase();
    return this.byId.values().find(({ keys }) => keys.some((key) => key.publicKey === wanted));
  }

  require(accountId: string): Account {
    const account = this.byId.get(accountId.toLowerCase());
    if (account === undefined) throw new SvcError("not_found", "There is no such account");
    return account;
  }

  save(account: Account): Account {
    this.byId.set(account.accountId, account);
    for (const listener of this.listeners) listener.call(account.accountId);
    return structuredClone(account);
  }
}

function adminOf(accounts: Accounts, gate: Gate, now: () => number): AccountAdmin {
  return {
    async create(owner) {
      await gate.pass();
      if (!isObjectId(owner)) refuse("owner", "owner is not an address");
      const address = owner.toLowerCase();
      const accountId = accountIdOf(address);
      if (accounts.byId.has(accountId)) throw new SvcError("account_exists");
      return accounts.save({ accountId, owner: address, active: true, keys: [] });
    },
    async list() {
      await gate.pass();
      return structuredClone([...accounts.byId.values()]);
    },
    async ofOwner(owner) {
      await gate.pass();
      return structuredClone(accounts.byId.get(accountIdOf(owner.toLowerCase())));
    },
    async addKey(accountId, key) {
      await gate.pass();
      const account = accounts.require(accountId);
      const added = delegateKey(key, now());
      if (accounts.holding(added.publicKey) !== undefined) throw new SvcError("key_exists");
      const full = account.keys.length >= MAX_KEYS;
      // A full account drops its expired keys.
      const keys = account.keys
        .filter(({ expiresAt = Infinity }) => !full || expiresAt > added.createdAt);
      if (keys.length >= MAX_KEYS) {
        refuse("publicKey", `An account has at most ${MAX_KEYS} keys`);
      }
      return accounts.save({ ...account, keys: [...keys, added] });
    },
    async removeKey(accountId, publicKey) {
      await gate.pass();
      const account = accounts.require(accountId);
      const keys = account.keys.filter((key) => key.publicKey !== publicKey.toLowerCase());
      if (keys.length === account.keys.length) {
        throw new SvcError("not_found", "The account does not list the key");
      }
      return accounts.save({ ...account, keys });
    },
    async setActive(accountId, active) {
      await gate.pass();
      return accounts.save({ ...accounts.require(accountId), active });
    },
  };
}

/**
 * An account registry without persistence. Hex is taken in either case and answered in lower case.
 *
 * @param now Clock, milliseconds since the epoch.
 */
export function memoryAccounts(now: () => number = Date.now): AccountRegistry {
  const gate = new Gate("storage_unavailable");
  const accounts = new Accounts();
  return {
    async resolve(publicKey, options) {
      await gate.pass(options?.signal);
      return structuredClone(accounts.holding(publicKey));
    },
    async get(accountId, options) {
      await gate.pass(options?.signal);
      return structuredClone(accounts.byId.get(accountId.toLowerCase()));
    },
    watch(call) {
      const listener = { call };
      accounts.listeners.add(listener);
      return { [Symbol.dispose]: () => void accounts.listeners.delete(listener) };
    },
    admin: adminOf(accounts, gate, now),
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}

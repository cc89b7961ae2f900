import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { SvcError } from "../../../../src/errors.ts";
import type { Cipher, DecryptCredential } from "../../../../src/interfaces/mod.ts";
import type {
  AccountState,
  KeyIdentity,
  KeyWork,
  Proof,
  UnwrapInput,
  Wrapped,
} from "../../../../plugins/sui/seal/calls.ts";

const KEY = randomBytes(32);
const SERVERS = ["a1", "a2", "a3"].map((part) => `0x${part.repeat(32)}`);

/** The servers of {@linkcode FakeWork}, as configured. */
export const FAKE_SERVERS = {
  threshold: 2,
  servers: SERVERS.map((objectId) => ({ objectId, weight: 1 })),
};

/** Chain and key servers in memory: a delegate key's address is `0x` and the key itself. */
export class FakeWork implements KeyWork, Disposable {
  /** By id. */
  readonly accounts = new Map<string, AccountState>();
  /** Calls by name. */
  readonly calls: Record<string, number> = { account: 0, prove: 0, wrap: 0, unwrap: 0 };
  /** Errors that calls throw, by name. */
  readonly failing: Partial<Record<keyof KeyWork, SvcError>> = {};
  /** What calls wait for, by name. */
  readonly held: Partial<Record<keyof KeyWork, Promise<void>>> = {};
  /** Inputs of `unwrap`. */
  readonly unwraps: UnwrapInput[] = [];

  async account(accountId: string): Promise<AccountState | undefined> {
    const state = this.accounts.get(accountId);
    await this.#enter("account");
    return state;
  }

  async prove({ session, delegateKey }: DecryptCredential): Promise<Proof> {
    await this.#enter("prove");
    if (session !== undefined) {
      const [address, expiresAt] = session.split(" ");
      return { address: address!, expiresAt: Number(expiresAt) };
    }
    return { address: `0x${delegateKey}` };
  }

  async wrap({ secret, ...identity }: KeyIdentity & { secret: Uint8Array }): Promise<Wrapped> {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", KEY, nonce).setAAD(nameOf(identity));
    const parts = [nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()];
    await this.#enter("wrap");
    return { set: FAKE_SERVERS, ciphertext: new Uint8Array(Buffer.concat(parts)) };
  }

  async unwrap(input: UnwrapInput): Promise<(Uint8Array | undefined)[]> {
    this.unwraps.push(input);
    await this.#enter("unwrap");
    const { accountId, credential, items } = input;
    const { address } = await this.prove(credential);
    const state = this.accounts.get(accountId);
    if (!state?.active || !state.readers.some((reader) => reader.address === address)) {
      throw new SvcError("decrypt_credential_invalid");
    }
    return items.map(({ generation, scope, ciphertext }) => {
      try {
        const decipher = createDecipheriv("aes-256-gcm", KEY, ciphertext.subarray(0, 12))
          .setAAD(nameOf({ accountId, generation, scope }))
          .setAuthTag(ciphertext.subarray(-16));
        const plain = decipher.update(ciphertext.subarray(12, -16));
        decipher.final();
        return new Uint8Array(plain);
      } catch {
        return undefined;
      }
    });
  }

  [Symbol.dispose](): void {}

  async #enter(call: keyof KeyWork): Promise<void> {
    this.calls[call]!++;
    await this.held[call];
    const error = this.failing[call];
    if (error !== undefined) throw error;
  }
}

function nameOf({ accountId, generation, scope }: KeyIdentity): Uint8Array {
  return new TextEncoder().encode(`${accountId} ${generation} ${scope.toHex()}`);
}

/** State of an account that these addresses may read. */
export function stateOf(
  readers: readonly string[],
  rest: Partial<AccountState> = {},
): AccountState {
  const listed = readers.map((address) => ({ address }));
  return { active: true, generation: 1, initialSharedVersion: "1", readers: listed, ...rest };
}

/** A cipher that opens with a credential unless it is given another. */
export function withCredential(cipher: Cipher, credential: DecryptCredential): Cipher {
  const open = cipher.open.bind(cipher);
  cipher.open = (items, context) => open(items, { credential, ...context });
  return cipher;
}

import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { SvcError } from "../../src/errors.ts";
import type { KeyStore, Sealer, WrappedKey } from "../../src/interfaces/plugin.ts";

/** AES-256-GCM under the SHA-256 of a name: equal names give equal keys. */
export function sealerForTests(name = "relayer key"): Sealer {
  const key = hash("sha256", name, "buffer");
  const open = (bytes: Uint8Array, additionalData: string): Uint8Array => {
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, 13));
      decipher.setAAD(new TextEncoder().encode(additionalData));
      decipher.setAuthTag(bytes.subarray(bytes.length - 16));
      const plain = decipher.update(bytes.subarray(13, bytes.length - 16));
      decipher.final();
      return new Uint8Array(plain);
    } catch (cause) {
      throw new SvcError("storage_unavailable", "Sealed bytes cannot be opened", {
        retryable: false,
        cause,
      });
    }
  };
  const seal = (bytes: Uint8Array, additionalData: string): Uint8Array => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    cipher.setAAD(new TextEncoder().encode(additionalData));
    const sealed = [cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
    return new Uint8Array(concat([new Uint8Array([1]), nonce, ...sealed]));
  };
  return {
    seal,
    sealLarge: (bytes, additionalData) => Promise.resolve(seal(bytes, additionalData)),
    open,
    openLarge: async (given, additionalData) => {
      const bytes = new Uint8Array(given);
      const params = {
        name: "AES-GCM",
        iv: bytes.slice(1, 13),
        additionalData: new TextEncoder().encode(additionalData),
      };
      try {
        const secret = await crypto.subtle.importKey("raw", key.slice(), "AES-GCM", false, [
          "decrypt",
        ]);
        return new Uint8Array(await crypto.subtle.decrypt(params, secret, bytes.slice(13)));
      } catch {
        return open(bytes, additionalData);
      }
    },
  };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Wrapped keys in memory, in the order they were put. */
export class KeysForTests implements KeyStore {
  /** What was put. */
  readonly kept: WrappedKey[] = [];
  readonly #generations = new Map<string, number>();

  put(key: WrappedKey): void {
    if (this.get(key.keyId) === undefined) this.kept.push(key);
  }

  get(keyId: string): WrappedKey | undefined {
    return this.kept.find((key) => key.keyId === keyId);
  }

  newest(...[accountId, scope]: Parameters<KeyStore["newest"]>): WrappedKey | undefined {
    return this.kept.findLast((key) =>
      key.accountId === accountId && key.owner === scope.owner &&
      key.namespace === scope.namespace && key.generation === this.generation(accountId)
    );
  }

  generation(accountId: string): number {
    return this.#generations.get(accountId) ?? 1;
  }

  nextGeneration(accountId: string): number {
    const next = this.generation(accountId) + 1;
    this.#generations.set(accountId, next);
    return next;
  }

  delete(keyId: string): void {
    this.kept.splice(0, Infinity, ...this.kept.filter((key) => key.keyId !== keyId));
  }
}

/** A fresh folder, removed when it goes out of scope. */
export async function folderForTests(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** Whether any file of a folder holds a run of bytes. */
export async function filesHold(folder: string, needle: Uint8Array): Promise<boolean> {
  for await (const { name } of Deno.readDir(folder)) {
    const bytes = await Deno.readFile(`${folder}/${name}`);
    for (let at = bytes.indexOf(needle[0]!); at >= 0; at = bytes.indexOf(needle[0]!, at + 1)) {
      if (needle.every((byte, i) => bytes[at + i] === byte)) return true;
    }
  }
  return false;
}

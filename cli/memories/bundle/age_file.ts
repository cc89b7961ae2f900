import { ageLibrary } from "./age_library.ts";
import { Unreadable } from "../unreadable.ts";

const MAGIC = "age-encryption.org/v1\n";
/** Line that ends a header; it has a MAC of 32 bytes. */
const HEADER_END = /\n--- [A-Za-z0-9+/]{43}\n/;

/** What opens a file. */
export type Secret =
  | { readonly passphrase: string }
  | { readonly identities: readonly string[] };

const textOf = (bytes: Uint8Array): string => new TextDecoder("latin1").decode(bytes);

/** Whether a file begins as age's do (https://age-encryption.org/v1). */
export function isAge(head: Uint8Array): boolean {
  return textOf(head.subarray(0, MAGIC.length)) === MAGIC;
}

/** The header of an age file: for whom it is, and what tells that it was not altered. */
export class AgeHeader {
  readonly #bytes: Uint8Array;
  /** Whether a passphrase opens it, instead of an identity. */
  readonly isForPassphrase: boolean;

  /**
   * Finds it at the beginning of a file: a header without an end would be gathered in memory.
   *
   * @throws {Unreadable} when there is none.
   */
  constructor(head: Uint8Array) {
    const text = textOf(head);
    const end = HEADER_END.exec(text);
    if (!isAge(head) || end === null) throw new Unreadable("it is damaged: it has no whole header");
    this.#bytes = head.subarray(0, end.index + end[0].length);
    this.isForPassphrase = /^-> scrypt /m.test(text.slice(0, end.index));
  }

  /**
   * The key of what follows. A passphrase takes a second and 256 MiB, so that guessing is slow.
   *
   * @throws {Unreadable} when the secret does not open it, or the header was altered.
   */
  async open(secret: Secret): Promise<FileKey> {
    const { Decrypter } = await ageLibrary();
    const decrypter = new Decrypter();
    try {
      if ("passphrase" in secret) decrypter.addPassphrase(secret.passphrase);
      else for (const identity of secret.identities) decrypter.addIdentity(identity);
      return new FileKey(await decrypter.decryptHeader(this.#bytes));
    } catch (error) {
      if (!(error instanceof Error) || !/no identity matched/.test(error.message)) {
        throw new Unreadable("it is damaged, or its header was altered", { cause: error });
      }
      throw new Unreadable(
        "passphrase" in secret ? "the passphrase does not open it" : "no identity given opens it",
      );
    }
  }
}

/** Opens one file, any number of times. */
export class FileKey {
  readonly #key: Uint8Array;

  /** Takes the key that a header gave. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** What stands in the file, as its bytes come; a piece that was altered is an error. */
  async decrypt(file: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
    const { Decrypter } = await ageLibrary();
    const decrypter = new Decrypter();
    // A passphrase is not tried anew.
    decrypter.addIdentity({ unwrapFileKey: () => this.#key });
    return await decrypter.decrypt(file);
  }
}

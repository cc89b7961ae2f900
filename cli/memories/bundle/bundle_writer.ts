import { ageLibrary } from "./age_library.ts";
import { createHash } from "node:crypto";
import { makeSigner } from "../../../src/client/signer.ts";
import type { Credentials } from "../../../src/client/mod.ts";
import {
  bundleMessage,
  type BundleSignature,
  type BundleStatement,
} from "../../../src/wire/signing/bundles.ts";
import { OutputFile } from "../output_file.ts";
import type { Lock } from "./secrets.ts";

/** Characters that go through compression and encryption together. */
const PART_CHARACTERS = 65_536;

/** How many lines of which kind a bundle has. */
export type BundleCounts = Pick<BundleStatement, "memories" | "versions" | "errors">;

async function encrypted(
  lines: ReadableStream<Uint8Array>,
  lock: Lock,
): Promise<ReadableStream<Uint8Array>> {
  const { Encrypter } = await ageLibrary();
  const encrypter = new Encrypter();
  if ("passphrase" in lock) encrypter.setPassphrase(lock.passphrase);
  else for (const recipient of lock.recipients) encrypter.addRecipient(recipient);
  const gzip = new CompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>;
  return await encrypter.encrypt(lines.pipeThrough(gzip));
}

/**
 * Writes an export as a bundle, line by line: signed at its end, compressed, and encrypted as age
 * does, so that `age -d` and `gunzip` open it, too. It is under its name only once it is whole.
 */
export class BundleWriter {
  readonly #file: OutputFile;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  /** Ends when the last byte is in the file; never rejects. */
  readonly #writing: Promise<{ readonly error: unknown } | undefined>;
  readonly #hash = createHash("sha256");
  readonly #encoder = new TextEncoder();
  #texts: string[] = [];
  #characters = 0;
  #lines = 0;

  private constructor(file: OutputFile, lock: Lock) {
    this.#file = file;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = writable.getWriter();
    // Where the disk refuses, the error is that of the file and not of the stream before it.
    this.#writer.closed.catch(() => undefined);
    const write = async () => {
      for await (const bytes of await encrypted(readable, lock)) await file.write(bytes);
    };
    this.#writing = write().then(() => undefined, (error) => ({ error }));
  }

  /** Starts one. @throws {CommandError} when it cannot be written. */
  static async open(path: string, lock: Lock): Promise<BundleWriter> {
    return new BundleWriter(await OutputFile.open(path), lock);
  }

  /** Where it is while it is not done. */
  get partPath(): string {
    return this.#file.partPath;
  }

  /** Adds a line, with its line feed. @throws what keeps it from being written. */
  async write(line: string): Promise<void> {
    this.#texts.push(line);
    this.#lines++;
    this.#characters += line.length;
    if (this.#characters >= PART_CHARACTERS) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = this.#encoder.encode(this.#texts.join(""));
    this.#texts = [];
    this.#characters = 0;
    this.#hash.update(bytes);
    await this.#push(bytes);
  }

  async #push(bytes: Uint8Array): Promise<void> {
    try {
      await this.#writer.write(bytes);
    } catch (error) {
      throw (await this.#writing)?.error ?? error;
    }
  }

  /** Signs what was written. @throws what keeps it from being written. */
  async commit(credentials: Credentials, format: string, counts: BundleCounts): Promise<void> {
    await this.#flush();
    const signer = await makeSigner(Uint8Array.fromHex(credentials.delegatePrivateKey));
    const said: BundleStatement = {
      v: 1,
      type: "svc-bundle",
      format,
      account_id: credentials.accountId,
      public_key: signer.publicKey,
      created_at: new Date().toISOString(),
      lines: this.#lines,
      ...counts,
      sha256: this.#hash.digest("hex"),
    };
    const statement = JSON.stringify(said);
    const signature = (await signer.sign(bundleMessage(statement))).toHex();
    const line: BundleSignature = { type: "signature", statement, signature };
    await this.#push(this.#encoder.encode(`${JSON.stringify(line)}\n`));
    await this.#writer.close().catch(() => undefined);
    const failed = await this.#writing;
    if (failed !== undefined) throw failed.error;
    await this.#file.commit();
  }

  /** Removes it: half a bundle is of no use to anybody. */
  async discard(): Promise<void> {
    await this.#writer.abort().catch(() => undefined);
    await this.#writing;
    await this.#file.discard();
  }
}

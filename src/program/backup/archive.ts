import { createHash } from "node:crypto";
import { Decrypter, Encrypter } from "age-encryption";
import { createTarDecoder, createTarPacker } from "modern-tar";
import { SvcError } from "../../errors.ts";
import { folderOf } from "../../storage/private_file.ts";

/** A file of an archive: its name there, and where its bytes are. */
export interface ArchivedFile {
  readonly name: string;
  readonly path: string;
}

type Bytes = ReadableStream<Uint8Array>;

/** The files as a tar archive (POSIX.1-2001), made as it is read. */
function packed(files: readonly ArchivedFile[]): Bytes {
  const { readable, controller } = createTarPacker();
  const pack = async () => {
    for (const { name, path } of files) {
      using file = await Deno.open(path);
      const { size, mtime } = await file.stat();
      const header = { name, size, mode: 0o600, mtime: mtime ?? new Date(), type: "file" as const };
      const body = controller.add(header);
      // A file that changes its size makes it fail.
      await ReadableStream.from(bytesOf(file)).pipeTo(body);
    }
    controller.finalize();
  };
  pack().catch((error) => controller.error(error));
  return readable;
}

/** Passes bytes on and adds them up. */
function digesting(hash: ReturnType<typeof createHash>): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(bytes, controller) {
      hash.update(bytes);
      controller.enqueue(bytes);
    },
  });
}

/**
 * Writes files into one archive: tar, encrypted as age does (https://age-encryption.org/v1), so that
 * `age -d` and `tar -x` open it, too. It is durable on return.
 *
 * @param path A file that does not exist yet.
 * @param recipients whom it is for, `age1…`.
 * @returns what its content hashes to, for {@linkcode verifyArchive}.
 */
export async function writeArchive(
  path: string,
  files: readonly ArchivedFile[],
  recipients: readonly string[],
): Promise<string> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const hash = createHash("sha256");
  const encrypted = await encrypter.encrypt(packed(files).pipeThrough(digesting(hash)));
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  // Not by `file.writable`: with `preventClose` it resolves before the last bytes are written.
  for await (const bytes of encrypted) {
    for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
  }
  await file.sync();
  return hash.digest("hex");
}

/** Whether one of the identities opens an archive. */
export async function opensWith(path: string, identities: readonly string[]): Promise<boolean> {
  try {
    using _ = await opened(path, identities);
    return true;
  } catch (error) {
    if (error instanceof SvcError && error.code === "invalid_parameter") return false;
    throw error;
  }
}

/** What stands in an archive, decrypted while it is read, and the open file. */
async function opened(
  path: string,
  identities: readonly string[],
): Promise<Disposable & { readonly content: Bytes }> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (cause) {
    throw new SvcError("not_found", `${path} cannot be read`, { cause });
  }
  try {
    const content = await decrypter.decrypt(ReadableStream.from(bytesOf(file)));
    return { content, [Symbol.dispose]: () => file.close() };
  } catch (cause) {
    file.close();
    if (!(cause instanceof Error) || !/no identity matched/.test(cause.message)) {
      throw damaged(path, cause);
    }
    throw new SvcError("invalid_parameter", `${path} is not encrypted to a key at hand`);
  }
}

/** Bytes of a file that stays open, whatever becomes of who reads them. */
async function* bytesOf(file: Deno.FsFile): AsyncGenerator<Uint8Array> {
  for (;;) {
    const buffer = new Uint8Array(65_536);
    const read = await file.read(buffer);
    if (read === null) return;
    yield buffer.subarray(0, read);
  }
}

function damaged(path: string, cause: unknown): SvcError {
  const text = `${path} is damaged, cut off, or no backup of svc`;
  return new SvcError("storage_unavailable", text, { retryable: false, cause });
}

/**
 * Reads an archive whole, and compares it with what was written.
 *
 * @param wanted What {@linkcode writeArchive} answered; without it only whether every byte is
 * authentic.
 * @throws {SvcError} `storage_unavailable` when a byte differs, `invalid_parameter` with other
 * keys, `not_found` when there is no such file.
 */
export async function verifyArchive(
  path: string,
  identities: readonly string[],
  wanted?: string,
): Promise<void> {
  const hash = createHash("sha256");
  using archive = await opened(path, identities);
  try {
    for await (const bytes of archive.content) hash.update(bytes);
  } catch (cause) {
    throw damaged(path, cause);
  }
  if (wanted !== undefined && hash.digest("hex") !== wanted) throw damaged(path, undefined);
}

/** A name that stays below the folder it is unpacked into. */
const isSafe = (name: string): boolean =>
  name.split("/").every((part) => /^[\w][\w.@-]*$/.test(part));

/**
 * Unpacks an archive.
 *
 * @param folder Folder that exists and is empty.
 * @throws {SvcError} as {@linkcode verifyArchive} does.
 */
export async function unpackArchive(
  path: string,
  identities: readonly string[],
  folder: string,
): Promise<void> {
  using archive = await opened(path, identities);
  try {
    for await (const { header, body } of archive.content.pipeThrough(createTarDecoder())) {
      if (header.type !== "file" || !isSafe(header.name)) throw new Error(header.name);
      const target = `${folder}/${header.name}`;
      await Deno.mkdir(folderOf(target), { recursive: true, mode: 0o700 });
      const file = await Deno.open(target, { write: true, createNew: true, mode: 0o600 });
      await body.pipeTo(file.writable);
    }
  } catch (cause) {
    throw damaged(path, cause);
  }
}

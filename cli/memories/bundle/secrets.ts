import { ageLibrary } from "./age_library.ts";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { ageIdentitiesIn, isAgeRecipient } from "../../../src/age_keys.ts";
import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import type { Session } from "../../session.ts";
import { isAsked, type Questions } from "../asking.ts";
import { systemReason } from "../output_file.ts";
import { Unreadable } from "../unreadable.ts";
import type { Secret } from "./age_file.ts";

/** Longest passphrase, in bytes. */
const PASSPHRASE_BYTES = 1024;

/** For whom a bundle is encrypted. */
export type Lock = { readonly passphrase: string } | { readonly recipients: readonly string[] };

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);

/** The passphrase in a file, or on standard input: all of it, without the line end. */
async function passphraseIn(path: string, { io }: Session): Promise<string> {
  const bytes: number[] = [];
  try {
    const chunks = path === "-" ? io.stdin ?? [] : createReadStream(path);
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
      bytes.push(...chunk.subarray(0, PASSPHRASE_BYTES + 3));
      if (bytes.length > PASSPHRASE_BYTES + 2) throw usage("The passphrase is longer than 1 KiB.");
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = `${onOneLine(path)} cannot be read (${systemReason(error)}).`;
    throw new CommandError(EXIT.error, message);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw usage("The passphrase is not UTF-8.");
  }
}

const given = (passphrase: string): { readonly passphrase: string } => {
  if (passphrase === "") throw usage("The passphrase is empty.");
  return { passphrase };
};

/** Recipients that were named. @throws {CommandError} when one is none; it says which. */
async function checked(recipients: readonly string[]): Promise<Lock> {
  const { Encrypter } = await ageLibrary();
  for (const [i, recipient] of recipients.entries()) {
    try {
      if (!isAgeRecipient(recipient)) throw new Error("It does not begin with age1");
      new Encrypter().addRecipient(recipient);
    } catch {
      // Not quoted: it may be an identity, which is a secret.
      throw usage(`--recipient ${i + 1} is no recipient of age (age1…).`);
    }
  }
  return { recipients };
}

/**
 * For whom a bundle is to be encrypted: the recipients that the command line names, else a
 * passphrase, which is asked for twice.
 *
 * @throws {CommandError} when there is none.
 */
export async function lockOf(session: Session, questions: Questions): Promise<Lock> {
  const { texts, lists: { recipient } } = session.line;
  const path = texts["passphrase-file"];
  if (recipient !== undefined) {
    if (path !== undefined) throw usage("--recipient and --passphrase-file exclude each other.");
    return await checked(recipient);
  }
  if (path !== undefined) return given(await passphraseIn(path, session));
  if (!isAsked(session.io)) {
    throw usage("Nobody could open it: add --recipient age1… or --passphrase-file <file>.");
  }
  const lock = given(await questions.secret("Passphrase for the bundle"));
  if (await questions.secret("Once more") === lock.passphrase) return lock;
  throw new CommandError(EXIT.error, "The passphrases differ.");
}

async function identitiesIn(path: string): Promise<Secret> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const message = `${onOneLine(path)} cannot be read (${systemReason(error)}).`;
    throw new CommandError(EXIT.error, message);
  }
  const identities = ageIdentitiesIn(text).map((identity) => identity.toUpperCase());
  if (identities.length > 0) return { identities };
  throw usage(`--identity: ${onOneLine(path)} holds no identity of age.`);
}

/**
 * What opens a bundle: what the command line names, or a passphrase that is asked for.
 *
 * @param shown The bundle, for people.
 * @throws {Unreadable} when there is nothing.
 */
export async function secretOf(
  session: Session,
  { shown, isForPassphrase }: { readonly shown: string; readonly isForPassphrase: boolean },
  questions: Questions,
): Promise<Secret> {
  const { identity, "passphrase-file": path } = session.line.texts;
  if (!isForPassphrase) {
    if (identity !== undefined) return await identitiesIn(identity);
    throw new Unreadable("it is for recipients of age: add --identity <file>");
  }
  if (path !== undefined) return given(await passphraseIn(path, session));
  if (isAsked(session.io)) return given(await questions.secret(`Passphrase of ${shown}`));
  throw new Unreadable("it has a passphrase: add --passphrase-file <file>");
}

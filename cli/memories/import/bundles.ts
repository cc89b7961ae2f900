import type { BundleStatement } from "../../../src/wire/signing/bundles.ts";
import { when } from "../../output.ts";
import type { Session } from "../../session.ts";
import { isAsked, type Questions } from "../asking.ts";
import { openBundle } from "../bundle/bundle_reader.ts";
import { makerOf } from "../bundle/maker.ts";
import { secretOf } from "../bundle/secrets.ts";
import { Unreadable } from "../unreadable.ts";
import type { ImportFile } from "./files.ts";
import type { Input } from "./input.ts";

/** A bundle that may be taken. */
export interface TakenBundle {
  readonly statement: BundleStatement;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Opens a bundle, says who signed it, and asks where that is nobody known.
 *
 * @throws {Unreadable} when it was altered or cut off, does not open, or is not wanted.
 */
export async function takeBundle(
  session: Session,
  { shown }: ImportFile,
  input: Input,
  questions: Questions,
): Promise<TakenBundle> {
  const { io, line } = session;
  const ask = (isForPassphrase: boolean) =>
    secretOf(session, { shown, isForPassphrase }, questions);
  const { statement, chunks } = await openBundle(input, ask);
  const isPreview = line.switches.includes("preview");
  const maker = await makerOf(session, statement, !isPreview);
  if (!line.json) io.writeError(`${shown}: signed ${when(statement.created_at)}. ${maker.words}\n`);
  if (!maker.isKnown && !isPreview && !line.yes) {
    if (!isAsked(io)) {
      throw new Unreadable("nobody here knows the key that signed it: add --key <hex>, or --yes");
    }
    if (!await questions.isYes("Take its memories?")) throw new Unreadable("it was left alone");
  }
  return { statement, chunks: chunks() };
}

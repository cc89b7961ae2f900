import { resolve } from "node:path";
import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import { counted } from "../../output.ts";
import { print, type Session } from "../../session.ts";
import { Questions } from "../asking.ts";
import { openBundle } from "../bundle/bundle_reader.ts";
import { keyOf, makerOf } from "../bundle/maker.ts";
import { secretOf } from "../bundle/secrets.ts";
import { isAge } from "../bundle/age_file.ts";
import { openInput } from "../import/input.ts";
import { systemReason } from "../output_file.ts";
import { Unreadable } from "../unreadable.ts";

async function check(session: Session, path: string) {
  const input = await openInput({ path: resolve(path) }, session);
  try {
    if (!isAge(input.head)) throw new Unreadable("it is no bundle");
    const shown = onOneLine(path);
    const ask = (isForPassphrase: boolean) =>
      secretOf(session, { shown, isForPassphrase }, new Questions(session.io));
    const { statement } = await openBundle(input, ask);
    return { statement, maker: await makerOf(session, statement, false) };
  } finally {
    await input.close();
  }
}

function notValid(path: string, error: unknown): unknown {
  const why = error instanceof Unreadable ? error.message : undefined;
  if (why !== undefined) return new CommandError(EXIT.error, `${onOneLine(path)}: ${why}.`);
  const isSystem = error instanceof Error && "syscall" in error;
  if (!isSystem) return error;
  const message = `${onOneLine(path)} cannot be read (${systemReason(error)}).`;
  return new CommandError(EXIT.error, message);
}

/** Checks a bundle without asking anybody: whether it is whole, unaltered, and who signed it. */
export async function verifyBundle(session: Session): Promise<void> {
  const [, path, ...others] = session.line.args;
  if (path === undefined || others.length > 0) {
    throw new CommandError(EXIT.usage, "export verify takes one file.");
  }
  keyOf(session);
  const { statement, maker } = await check(session, path).catch((error) => {
    throw notValid(path, error);
  });
  const { memories, versions, errors, created_at } = statement;
  const earlier = versions === 0 ? "" : `, ${counted(versions, "earlier version")}`;
  const missing = errors === 0 ? "" : `; ${errors.toLocaleString("en")} could not be opened`;
  print(
    session,
    { valid: true, key_known: maker.isKnown, statement },
    `The bundle is whole, and as it was signed. ${maker.words}\n` +
      `Signed ${created_at}: ${counted(memories, "memory", "memories")}${earlier}${missing}.\n`,
  );
}

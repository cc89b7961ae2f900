import { examine, type Line } from "../doctor/checks.ts";
import { onOneLine } from "../../printable.ts";
import { type CommandIo, parseFlags, UsageError } from "./io.ts";

export const DOCTOR_USAGE = `Usage: svc doctor [--public] [--json]

Looks at everything a relayer needs, and says what to do: settings, permissions,
files with secrets, the data directory and its databases, disk, descriptors,
clock, listener, TLS, and what its plugins depend on. It changes no data, and
can be run beside a running relayer.

  --public  also asks SVC_PUBLIC_URL from here, as a client would
  --json    machine output

Exit code: 0 without problems, 1 with; warnings are no problems.
`;

/** Lines for people: state, check, what is so; below it what to do. */
function textOf(lines: readonly Line[]): string {
  return lines.map(({ state, check, found, advice }) => {
    const what = `${state.padEnd(7)}  ${check.padEnd(14)}  ${onOneLine(found)}\n`;
    return advice === undefined ? what : `${what}${" ".repeat(25)}→ ${onOneLine(advice)}\n`;
  }).join("");
}

/**
 * Runs `svc doctor`.
 *
 * @returns the exit code: 0 without problems, 1 with, 2 usage.
 */
export async function runDoctor(args: readonly string[], io: CommandIo): Promise<number> {
  let flags: { public?: boolean; json?: boolean; help?: boolean };
  try {
    const { values, positionals } = parseFlags(args, {
      public: { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    });
    if (positionals.length > 0) throw new UsageError("Unknown argument");
    flags = values;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.writeError(`${error.message}\n\n${DOCTOR_USAGE}`);
    return 2;
  }
  if (flags.help) {
    io.write(DOCTOR_USAGE);
    return 0;
  }
  const lines = await examine(io.env, { cwd: io.cwd, isPublic: flags.public ?? false });
  const isWell = lines.every(({ state }) => state !== "problem");
  io.write(flags.json ? JSON.stringify({ ok: isWell, findings: lines }) + "\n" : textOf(lines));
  return isWell ? 0 : 1;
}

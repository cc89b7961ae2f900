import type { Settings } from "./settings.ts";

type Start =
  /** Serves an MCP host. */
  | { readonly does: "bridge" }
  /** Runs a terminal command, with these arguments. */
  | { readonly does: "command"; readonly args: readonly string[] };

/**
 * What a start of the package means (docs/protocol.md#13.2): a command when one is named, also by
 * `--help` or `--logout`; on a terminal the sign-in, or a status summary; else it serves a host.
 *
 * @param isTerminal Whether standard input is a terminal.
 * @param isSignedIn Whether there are credentials.
 */
export function startOf(
  args: readonly string[],
  settings: Pick<Settings, "help" | "login" | "logout" | "command">,
  isTerminal: boolean,
  isSignedIn: boolean,
): Start {
  const { help, login, logout, command } = settings;
  if (command !== undefined) return { does: "command", args };
  if (help) return { does: "command", args: ["--help"] };
  const others = args.filter((arg) => arg !== "--login" && arg !== "--logout");
  if (logout) return { does: "command", args: ["logout", ...others] };
  if (!isTerminal) return { does: "bridge" };
  return { does: "command", args: [login || !isSignedIn ? "login" : "status", ...others] };
}

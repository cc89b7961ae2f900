import { STDIO_VARIABLES } from "../src/wire/stdio_variables.ts";

/** Where the user's files are; also those of the hosts that `install` configures. */
const PLACES = [
  "HOME",
  "USERPROFILE",
  "APPDATA",
  "XDG_CONFIG_HOME",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
] as const;

/** What tells whether there is a screen, and what a program that opens a browser needs. */
export const SCREEN = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "SSH_CONNECTION",
  "SSH_TTY",
  "PATH",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "XDG_CURRENT_DESKTOP",
  "XDG_DATA_DIRS",
  "DBUS_SESSION_BUS_ADDRESS",
  "BROWSER",
  "SystemRoot",
] as const;

/**
 * Every environment variable the stdio package reads, so that it can run with permission for these
 * alone.
 */
export const VARIABLES: readonly string[] = [
  ...STDIO_VARIABLES,
  ...PLACES,
  "NO_PROXY",
  "no_proxy",
  ...SCREEN,
];

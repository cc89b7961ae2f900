import { join } from "node:path";
import { homeFolder } from "../../src/home_folder.ts";

/** A program that starts MCP servers, and where it keeps their configuration. */
export interface Host {
  readonly title: string;
  /** Language of the file; `jsonc` is JSON with comments. */
  readonly format: "json" | "jsonc" | "toml";
  /** Member or table that holds the servers by name. */
  readonly servers: string;
  /** Whether an entry says that it is of type `stdio`. */
  readonly typed: boolean;
  /** The file; `undefined` when the environment does not tell. */
  readonly path: (place: Place) => string | undefined;
  /** What makes the host read it. */
  readonly afterwards: string;
}

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name of the platform as Node has it. */
  readonly platform: string;
}

function inHome({ env, platform }: Place, ...path: string[]): string | undefined {
  const home = homeFolder(env, platform === "win32");
  return home ? join(home, ...path) : undefined;
}

/** A file in the folder where the platform keeps settings of desktop programs. */
function inSettings(place: Place, ...path: string[]): string | undefined {
  const { env, platform } = place;
  if (platform === "darwin") return inHome(place, "Library", "Application Support", ...path);
  if (platform === "win32") {
    return env.APPDATA ? join(env.APPDATA, ...path) : inHome(place, "AppData", "Roaming", ...path);
  }
  return env.XDG_CONFIG_HOME
    ? join(env.XDG_CONFIG_HOME, ...path)
    : inHome(place, ".config", ...path);
}

/** The hosts that `install` knows, by the name on the command line. */
export const HOSTS: Readonly<Record<string, Host>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    format: "json",
    servers: "mcpServers",
    typed: false,
    path: (place) => inSettings(place, "Claude", "claude_desktop_config.json"),
    afterwards: "Quit Claude Desktop and start it again.",
  },
  "claude-code": {
    title: "Claude Code",
    format: "json",
    servers: "mcpServers",
    typed: true,
    path: (place) =>
      place.env.CLAUDE_CONFIG_DIR
        ? join(place.env.CLAUDE_CONFIG_DIR, ".claude.json")
        : inHome(place, ".claude.json"),
    afterwards: "Start a new Claude Code session.",
  },
  cursor: {
    title: "Cursor",
    format: "jsonc",
    servers: "mcpServers",
    typed: false,
    path: (place) => inHome(place, ".cursor", "mcp.json"),
    afterwards: "Switch the server on in Cursor's MCP settings, or restart Cursor.",
  },
  codex: {
    title: "Codex",
    format: "toml",
    servers: "mcp_servers",
    typed: false,
    path: (place) =>
      place.env.CODEX_HOME
        ? join(place.env.CODEX_HOME, "config.toml")
        : inHome(place, ".codex", "config.toml"),
    afterwards: "Start a new Codex session.",
  },
  vscode: {
    title: "VS Code",
    format: "jsonc",
    servers: "servers",
    typed: true,
    path: (place) => inSettings(place, "Code", "User", "mcp.json"),
    afterwards: "VS Code asks whether to trust the server when it starts it.",
  },
};

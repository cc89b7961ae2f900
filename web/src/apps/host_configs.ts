/** What a configuration is made of. */
export interface HostOptions {
  /** Address of the MCP endpoint. */
  readonly mcpUrl: string;
  /** `0x` and 64 hex characters. */
  readonly accountId: string;
  /** Private key of the app, 64 hex characters, or a placeholder. */
  readonly key: string;
}

/** An app that speaks MCP, and what it is told. */
export interface HostConfig {
  /** Its name. */
  readonly name: string;
  /** Where the text goes. */
  readonly where: string;
  /** The text. */
  readonly text: (options: HostOptions) => string;
}

/** Stands where a key goes. */
export const KEY_PLACEHOLDER = "KEY";

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const headers = ({ accountId, key }: HostOptions) => ({
  Authorization: `Bearer ${key}`,
  "x-svc-account-id": accountId,
});

/** The configuration of each app, as in docs/mcp.md. */
export const HOST_CONFIGS: readonly HostConfig[] = [
  {
    name: "Claude Code",
    where: "Run this in a terminal:",
    text: ({ mcpUrl, accountId, key }) =>
      `claude mcp add --scope user --transport http svc ${mcpUrl} \\
  --header "Authorization: Bearer ${key}" \\
  --header "x-svc-account-id: ${accountId}"`,
  },
  {
    name: "Claude Desktop",
    where: "Settings → Developer → Edit Config. The bridge mcp-remote needs Node:",
    text: ({ mcpUrl, accountId, key }) =>
      json({
        mcpServers: {
          svc: {
            command: "npx",
            args: [
              "-y",
              "mcp-remote",
              mcpUrl,
              "--header",
              "Authorization:${AUTHORIZATION}",
              "--header",
              `x-svc-account-id:${accountId}`,
            ],
            env: { AUTHORIZATION: `Bearer ${key}` },
          },
        },
      }),
  },
  {
    name: "Cursor",
    where: "~/.cursor/mcp.json:",
    text: (options) =>
      json({ mcpServers: { svc: { url: options.mcpUrl, headers: headers(options) } } }),
  },
  {
    name: "Codex",
    where: "~/.codex/config.toml; the key comes from the environment:",
    text: ({ mcpUrl, accountId, key }) =>
      `# in the shell: export MEMORY_KEY=${key}
[mcp_servers.svc]
url = "${mcpUrl}"
bearer_token_env_var = "MEMORY_KEY"
http_headers = { "x-svc-account-id" = "${accountId}" }`,
  },
  {
    name: "VS Code",
    where: "MCP: Open User Configuration. VS Code asks for the key when it connects:",
    text: ({ mcpUrl, accountId }) =>
      json({
        inputs: [
          {
            type: "promptString",
            id: "memory-key",
            description: "svc delegate key",
            password: true,
          },
        ],
        servers: {
          svc: {
            type: "http",
            url: mcpUrl,
            headers: {
              Authorization: "Bearer ${input:memory-key}",
              "x-svc-account-id": accountId,
            },
          },
        },
      }),
  },
];

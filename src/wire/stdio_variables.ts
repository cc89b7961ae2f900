/** Variables of the stdio package and the terminal commands (docs/protocol.md#13.1). */
export const STDIO_VARIABLES = [
  "SVC_SERVER_URL",
  "SVC_WEB_URL",
  "SVC_CLIENT_LABEL",
  "SVC_NAMESPACE",
  "SVC_MCP_TRANSPORT",
  "SVC_NO_BROWSER",
  "SVC_MCP_DEBUG",
  "SVC_CREDENTIALS_FILE",
] as const;

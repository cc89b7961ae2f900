import { flag, integer } from "../../interfaces/fields.ts";
import { lenientInteger, loopbackUrl, tokenSecret } from "./parsers.ts";

export const SIDECAR = {
  sidecarUrl: loopbackUrl(
    "SIDECAR_URL",
    "http://localhost:9000",
    "Loopback address of the sidecar; `localhost` = 127.0.0.1, port 0 = chosen by the system",
  ),
  sidecarToken: {
    ...tokenSecret("SIDECAR_AUTH_TOKEN", 16, "Secret shared by relayer and sidecar"),
    fallbackText: "random per start",
  },
  sidecarAutostart: flag("SIDECAR_AUTOSTART", true, "Starts and supervises the sidecar"),
  mcpMaxSessions: lenientInteger(
    "MCP_MAX_TOTAL_SESSIONS",
    1000,
    1,
    1_000_000,
    "Concurrent MCP sessions",
  ),
  mcpMaxSessionsPerIp: lenientInteger(
    "MCP_MAX_SESSIONS_PER_IP",
    16,
    1,
    1_000_000,
    "Concurrent MCP sessions from one source IP",
  ),
  mcpMaxNewSessionsPerIpPerMinute: lenientInteger(
    "MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN",
    30,
    1,
    1_000_000,
    "New MCP sessions per source IP and minute",
  ),
  mcpSessionIdleSeconds: lenientInteger(
    "MCP_SESSION_IDLE_SECONDS",
    1800,
    1,
    86_400,
    "Idle time after which an MCP session ends, seconds",
  ),
  mcpKeepaliveSeconds: integer(
    "SVC_MCP_KEEPALIVE_SECONDS",
    10,
    1,
    300,
    "Pause between signs of life on MCP streams, seconds",
  ),
};

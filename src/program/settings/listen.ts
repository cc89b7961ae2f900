import {
  checked,
  flag,
  headerSecret,
  integer,
  optional,
  optionalText,
} from "../../interfaces/fields.ts";
import {
  hostName,
  hostNames,
  lenientInteger,
  loopbackUrl,
  networks,
  origins,
  originUrl,
} from "./parsers.ts";

export const LISTEN = {
  host: hostName("SVC_HOST", "127.0.0.1", "Address to listen on"),
  port: optional(
    integer("SVC_PORT", 8000, 0, 65535, "Port to listen on; 0 = chosen by the system"),
    "PORT, else 8000",
  ),
  hostedPort: optional(
    integer("PORT", 8000, 0, 65535, "Port to listen on when SVC_PORT is unset"),
    "none",
  ),
  publicUrl: optional(
    originUrl("SVC_PUBLIC_URL", "Address of the relayer as clients see it, without a path"),
    "where it listens",
  ),
  webPort: integer("SVC_WEB_PORT", 5173, 0, 65535, "Port of the dashboard; 0 = off"),
  webUrl: optional(
    originUrl("SVC_WEB_URL", "Address of the dashboard as browsers see it, without a path"),
    "http://localhost:{SVC_WEB_PORT}",
  ),
  allowedOrigins: optional(
    origins("SVC_ALLOWED_ORIGINS", "Origins CORS answers to, comma-separated"),
    "origin of SVC_WEB_URL",
  ),
  allowedHosts: optional(
    hostNames("SVC_ALLOWED_HOSTS", "Further names a Host header may carry; `*` = any"),
    "none; any with SVC_BEHIND_PROXY on an address other machines reach",
  ),
  behindProxy: optional(
    networks(
      "SVC_BEHIND_PROXY",
      "Addresses and CIDR ranges of the proxies in front, whose X-Forwarded-For is believed",
    ),
    "SVC_TRUSTED_PROXIES, else none",
  ),
  trustedProxies: networks("SVC_TRUSTED_PROXIES", "Older name of SVC_BEHIND_PROXY"),
  tlsCertFile: optionalText(
    "SVC_TLS_CERT_FILE",
    "Certificate chain in PEM; with it the relayer speaks TLS, and a file that changes is read anew",
  ),
  tlsKeyFile: optionalText("SVC_TLS_KEY_FILE", "Private key of SVC_TLS_CERT_FILE in PEM"),
  maxConnections: integer(
    "SVC_MAX_CONNECTIONS",
    4000,
    32,
    1_000_000,
    "Open connections of clients; beyond, those that sent no request make room",
  ),
  maxConnectionsPerAddress: integer(
    "SVC_MAX_CONNECTIONS_PER_ADDRESS",
    512,
    1,
    1_000_000,
    "Open connections of one client address, of IPv6 one /64; loopback and SVC_BEHIND_PROXY have no such limit",
  ),
  openRegistration: flag(
    "SVC_OPEN_REGISTRATION",
    false,
    "Lets everybody create an account, not only this machine",
  ),
  allowKeyOverHttp: flag(
    "SVC_ALLOW_KEY_OVER_HTTP",
    false,
    "Takes private keys in headers from other machines over plain HTTP, where others can read them",
  ),
  clientMetadata: flag(
    "SVC_CLIENT_METADATA",
    false,
    "Reads the documents of apps that name themselves by an address: the relayer may then reach every " +
      "public IPv4 address at port 443",
  ),
  metricsPublic: flag("SVC_METRICS_PUBLIC", false, "Answers /metrics to everybody"),
};

export const SIDECAR = {
  relayerName: checked(
    optionalText(
      "SVC_RELAYER_NAME",
      "Name of this relayer among several, at the head of its MCP session ids: a balancer finds it by them",
    ),
    (name) =>
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name!)
        ? undefined
        : "must be 1 to 63 lower-case letters, digits and hyphens, such as relayer-1",
  ),
  sidecarUrl: loopbackUrl(
    "SIDECAR_URL",
    "http://localhost:9000",
    "Loopback address of the sidecar; `localhost` = 127.0.0.1, port 0 = chosen by the system",
  ),
  sidecarToken: {
    ...checked(
      headerSecret("SIDECAR_AUTH_TOKEN", "Secret shared by relayer and sidecar"),
      (token) =>
        token!.reveal().length < 16 ? "must have at least 16 visible ASCII characters" : undefined,
    ),
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

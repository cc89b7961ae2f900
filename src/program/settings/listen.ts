import { flag, integer, optional } from "../../interfaces/fields.ts";
import { hostNames, networks, origins } from "./list_parsers.ts";
import { hostName, originUrl } from "./parsers.ts";

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
    "from the request's Host",
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
    "none on a loopback listen address, else any",
  ),
  trustedProxies: networks(
    "SVC_TRUSTED_PROXIES",
    "Addresses and CIDR ranges whose X-Forwarded-For is believed",
  ),
  openRegistration: flag(
    "SVC_OPEN_REGISTRATION",
    false,
    "Lets any peer create an account, not only this machine",
  ),
  metricsPublic: flag("SVC_METRICS_PUBLIC", false, "Answers /metrics to everybody"),
};

/** Names of the headers that carry meaning (docs/protocol.md#3, #4, #6, #11), in lower case. */
export const HEADER = {
  /** Ed25519 public key of the signer, 64 hex characters. */
  publicKey: "x-public-key",
  /** Ed25519 signature of the canonical text, 128 hex characters. */
  signature: "x-signature",
  /** Unix time in whole seconds. */
  timestamp: "x-timestamp",
  /** UUID, used once; its presence selects the 6-field form. */
  nonce: "x-nonce",
  /** Origin that the request is for; its presence selects the host-bound form. */
  audience: "x-audience",
  /** Object id of the account: a hint for its resolution. */
  accountId: "x-account-id",
  /** Delegate private key, for threshold decryption only. */
  delegateKey: "x-delegate-key",
  /** Base64 of a JSON session envelope, for threshold decryption only. */
  sealSession: "x-seal-session",
  /** Same key and same body: the first answer again. */
  idempotencyKey: "idempotency-key",
  /** `true` on an answer that was given before. */
  idempotencyReplayed: "idempotency-replayed",
  /** Id of the request, in every answer. */
  requestId: "x-request-id",
  /** Taken as the request id when there is no `x-request-id`. */
  correlationId: "x-correlation-id",
  /** Whole seconds to wait. */
  retryAfter: "retry-after",
  /** What is left in each layer of the rate limit. */
  rateLimit: "ratelimit",
  /** The layers of the rate limit. */
  rateLimitPolicy: "ratelimit-policy",
  /** Account of an MCP session. */
  mcpAccountId: "x-svc-account-id",
  /** Default namespace of an MCP session. */
  mcpNamespace: "x-svc-namespace",
  /** Stands for a signature on the internal listener, and nowhere else. */
  sessionToken: "x-svc-session-token",
  /** Session of the Streamable HTTP transport. */
  mcpSessionId: "mcp-session-id",
  /** Protocol revision of an MCP request. */
  mcpProtocolVersion: "mcp-protocol-version",
  /** Token of a request that is handed to a sidecar in one process; it crosses no connection. */
  sidecarToken: "x-svc-sidecar-token",
  /** Address of the client, believed only of a proven sidecar or relayer. */
  clientIp: "x-svc-client-ip",
} as const;

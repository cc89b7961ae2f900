/** What a client is told by OAuth (RFC 6749 5.2, RFC 7591 3.2.2, RFC 8707 2). */
export type OAuthErrorName =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "access_denied"
  | "temporarily_unavailable";

/** Of those that are not 400. */
const STATUSES: Partial<Readonly<Record<OAuthErrorName, number>>> = {
  invalid_client: 401,
  temporarily_unavailable: 503,
};

/** A refusal in the words of OAuth. */
export class OAuthError extends Error {
  /** Its `error`. */
  readonly code: OAuthErrorName;

  /** `description` is shown to whoever asked: it holds nothing that they did not send. */
  constructor(code: OAuthErrorName, description: string) {
    super(description);
    this.code = code;
  }

  /** The answer of a route that clients call. */
  response(): Response {
    const status = STATUSES[this.code] ?? 400;
    const body = { error: this.code, error_description: this.message };
    return Response.json(body, { status, headers: { "cache-control": "no-store" } });
  }
}

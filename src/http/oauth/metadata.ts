import { PERMISSIONS } from "../../wire/keys.ts";
import type { AnswerOf } from "../../wire/route_types.ts";
import type { OwnAddress } from "../own_address.ts";
import type { RequestContext } from "../request.ts";

/** Where the metadata of the resource lies: its path behind this (RFC 9728 3.1). */
export const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

type Address = Pick<OwnAddress, "base" | "connect" | "issuer" | "connectFor">;

/** Who lets apps in to the resource (RFC 9728 2). */
export function resourceMetadata(
  address: Address,
  context: RequestContext,
): AnswerOf<"GET /.well-known/oauth-protected-resource/api/mcp/connect"> {
  return {
    resource: address.connectFor(context),
    authorization_servers: [address.issuer],
    scopes_supported: [...PERMISSIONS],
    bearer_methods_supported: ["header"],
    resource_name: "svc",
  };
}

/** What the authorization server offers (RFC 8414 2). */
export function serverMetadata(
  { issuer }: Address,
  readsDocuments: boolean,
): AnswerOf<"GET /.well-known/oauth-authorization-server/oauth"> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    scopes_supported: [...PERMISSIONS],
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    client_id_metadata_document_supported: readsDocuments,
    authorization_response_iss_parameter_supported: true,
  };
}

/**
 * The challenge of a 401: it leads clients of the resource to what lets them in.
 *
 * @param showed Whether the request brought a token, which was refused.
 */
export function challenge(address: Address, context: RequestContext, showed: boolean): string {
  const { origin, pathname } = new URL(address.connectFor(context));
  return [
    'Bearer realm="svc"',
    ...(showed ? ['error="invalid_token"'] : []),
    `resource_metadata="${origin}${RESOURCE_METADATA}${pathname}"`,
    `scope="${PERMISSIONS.join(" ")}"`,
  ].join(", ");
}

import { OAuthError } from "./oauth_error.ts";

/**
 * Members of a form, each of which is there once.
 *
 * @throws {OAuthError} `invalid_request` when one is there twice.
 */
export function parseForm(bytes: Uint8Array): Record<string, string> {
  const given = [...new URLSearchParams(new TextDecoder().decode(bytes))];
  const members = new Map(given);
  if (members.size < given.length) {
    throw new OAuthError("invalid_request", "A parameter is sent twice");
  }
  return Object.fromEntries(members);
}

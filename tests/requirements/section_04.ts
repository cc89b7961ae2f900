import { DEFERRED, type Rule, rules } from "./rule.ts";

const replay = rules("4.4", [
  [1, "a nonce is single-use per public key; reuse answers nonce_reused"],
  [2, "a nonce stays used for 600 s"],
  [3, "a nonce is burned only after the signature verified and the account resolved"],
  [4, "a burned nonce stays burned whatever the answer was, errors included"],
  [5, "a write burns its nonce in the commit that accepts it"],
  [6, "another request burns its nonce in memory at once and on disk within 1 s"],
  [
    7,
    "after an unclean stop 6-field requests older than the start + 2 s are refused as out of range",
  ],
  [8, "the same nonce under another public key is another nonce"],
  [9, "4-field read routes may be repeated inside the window"],
  [10, "the same 4-field signed text on remember never writes twice; the first answer comes again"],
  [11, "the same holds for bulk"],
  [12, "the same holds for manual"],
  [13, "the same holds for restore"],
  [14, "the same holds for forget"],
  [15, "the same holds for a memory's DELETE"],
  [16, "the same holds for a job's retry"],
  [17, "the same holds for analyze"],
  [18, "the same holds for import", DEFERRED.exportImport],
  [19, "the same holds for a memory's PUT", DEFERRED.put],
  [20, "a repeated answer carries idempotency-replayed: true"],
  [21, "two different 4-field texts from one key are two writes"],
  [22, "a repeat waits for the answer of the first request while that is processed"],
  [23, "a repeat that waited 30 s gets 409 idempotency_in_progress"],
  [24, "only 2xx answers are kept"],
  [25, "nonces survive a restart"],
  [26, "kept answers survive a restart"],
  [27, "an unavailable replay store answers 503 storage_unavailable, never 401"],
]);

const resolution = rules("4.5", [
  [1, "answers are cached by public key and hint"],
  [2, "x-account-id names the account to look at"],
  [3, "a hint header that does not match the key is final: 401 without a fallback"],
  [4, "SVC_ACCOUNT_ID names the account of requests without a hint"],
  [5, "the registry's index is asked when SVC_ACCOUNT_ID does not list the key"],
  [6, "without hint and setting the registry's index is asked"],
  [7, "the account must be of the exact type of the configured package"],
  [8, "a deactivated account is not authorized"],
  [9, "an expired key is not authorized"],
  [10, "a key that no account lists is not authorized"],
  [11, "an added key is accepted at once: changes drop cached answers"],
  [12, "a removed key is refused at once: changes drop cached answers"],
  [13, "deactivation and reactivation drop cached answers"],
  [14, "positive entries are asked again after the configured time (60 s)"],
  [15, "negative entries live 5 s"],
  [16, "while the registry is down an entry up to 300 s old is served"],
  [
    17,
    "while it is down and without an entry: 503 chain_unavailable with Retry-After 5, never 401",
  ],
  [18, "uncached look-ups are limited per client address: 429, layer account_lookup_ip"],
  [19, "cached answers are not counted as look-ups"],
]);

const credentials = rules("4.6", [
  [1, "x-seal-session and x-delegate-key are accepted on every signed route"],
  [2, "they do not matter where the cipher needs no credential"],
  [3, "where it needs one and it is missing: 400 decrypt_credential_required"],
  [4, "where it is unusable: 400 decrypt_credential_invalid"],
  [5, "the session wins over the key"],
  [6, "search by vector and background work never ask for a credential"],
  [7, "credentials go to the cipher alone: never into logs or answers"],
]);

const order = rules("4.3", [
  [1, "check 1: an unknown path answers 404, before authentication"],
  [2, "check 1: a wrong method answers 405, before authentication"],
  [3, "check 1: a declared body size above the limit answers 413, before authentication"],
  [4, "check 2: a missing required header answers 401 auth_headers_missing"],
  [5, "check 3: a malformed header answers 401 auth_header_invalid"],
  [6, "check 3: a malformed nonce answers 401 nonce_invalid"],
  [7, "check 4: without a nonce where one is required: 426 upgrade_required"],
  [8, "check 5: a query string in the 4-field form answers 400 unsigned_query"],
  [9, "check 6: a timestamp 300 s away is accepted, 301 s is timestamp_out_of_range"],
  [10, "check 7: a body that grows over the limit answers 413"],
  [11, "check 7: a body that does not arrive in time answers 408 request_timeout"],
  [12, "check 7: more than the budget of unverified bodies answers 503 overloaded"],
  [13, "check 8: a signature that does not verify answers 401 signature_invalid"],
  [14, "check 8: small-order public keys are refused"],
  [15, "check 8: non-canonical encodings are refused"],
  [16, "check 8: S >= L is refused"],
  [17, "check 9: an account that does not resolve answers 401 account_not_authorized"],
  [18, "check 10: a replay answers 401 nonce_reused"],
  [19, "check 11: a key without the route's permission answers 403 permission_denied"],
  [20, "check 12: a spent limit answers 429"],
  [21, "check 13: content type, then syntax, then shape, then values"],
  [22, "checks are made in this order: the earlier failure is the one answered"],
  [23, "a 401 body says no more than its code"],
]);

const headers = rules("4.1", [
  [1, "x-public-key is 64 hex characters"],
  [2, "x-signature is 128 hex characters"],
  [3, "x-timestamp is Unix time in whole seconds, decimal"],
  [4, "x-nonce is a UUID, 8-4-4-4-12 hex"],
  [5, "x-account-id is 0x and 64 hex characters"],
  [6, "x-delegate-key is 64 hex characters or suiprivkey…"],
  [7, "x-seal-session is base64"],
  [8, "hex is accepted in either case, without 0x"],
  [9, "an empty optional header counts as absent"],
  [10, "a repeated header is invalid"],
]);

const text = rules("4.2", [
  [1, "without x-nonce the 4-field form is signed"],
  [2, "with x-nonce the 6-field form is signed, query and account id included"],
  [3, "header values are signed exactly as sent"],
  [4, "the path is signed as received, percent-encoding untouched"],
  [5, "path_and_query has a question mark and the query only when there is one"],
  [6, "body_sha256 of no body is the hash of zero bytes"],
  [7, "without x-account-id the sixth field is empty"],
  [8, "a changed body, path, method, timestamp, nonce or account id breaks the signature"],
  [9, "the published test vectors verify"],
]);

const general = rules("4", [
  [1, "every /api route except /api/mcp* needs a signature"],
  [2, "public routes need none"],
]);

/** Rules of section 4, signed requests. */
export const SECTION_4: readonly Rule[] = [
  ...general,
  ...headers,
  ...text,
  ...order,
  ...replay,
  ...resolution,
  ...credentials,
];

import { SvcAnswerError, SvcConnectionError } from "../../../src/client/failures.ts";
import { type ErrorCode, SvcError } from "../../../src/errors.ts";

/** What a refusal means to somebody who does not know the protocol. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  account_not_authorized:
    "This page may not read the account: it was switched off, or the page's key was removed.",
  owner_proof_invalid:
    "The wallet's signature was not accepted. Wallets with Ed25519 or secp256k1 keys work here.",
  origin_not_allowed:
    "The relayer does not accept this address of the dashboard. Open it under the address in SVC_WEB_URL.",
  registration_closed: "This relayer takes no new accounts.",
  key_exists:
    "An account lists this key already. If it is yours, remove it under Apps and add it again.",
  quota_exceeded: "The storage is full. Delete something to make room.",
  rate_limited: "Too many requests in a short time. Wait a moment and try again.",
  version_conflict: "Somebody else changed this memory meanwhile. Look at what it says now.",
  memory_not_found: "This memory is not there any more.",
  llm_disabled: "The relayer has no language model, and was told not to read without one.",
  empty_text: "There is nothing to remember yet: type a text first.",
  text_too_long: "The text is too long. A memory may have 1 MiB.",
  invalid_namespace: "This name cannot be used: at most 256 bytes, no control characters.",
  embedding_unavailable: "The model that reads texts is not available right now.",
  storage_unavailable: "The relayer cannot write or read its data right now.",
  shutting_down: "The relayer is being stopped or restarted.",
  timestamp_out_of_range: "The clocks of this device and the relayer differ by minutes.",
};

/** An error in words for people. */
export function explain(error: unknown): string {
  if (error instanceof SvcError) return SENTENCES[error.code] ?? error.message;
  if (error instanceof SvcConnectionError) {
    return `${error.message}. Is it running? Start it with “deno task start”.`;
  }
  if (error instanceof SvcAnswerError) return error.message;
  if (error instanceof DOMException && error.name === "NotSupportedError") {
    return "This browser cannot make Ed25519 keys. Use a newer one.";
  }
  return error instanceof Error ? error.message : "Something went wrong";
}

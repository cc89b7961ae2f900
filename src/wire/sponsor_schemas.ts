import { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import { SvcError } from "../errors.ts";
import { isObjectId } from "./keys.ts";
import * as limit from "./limits.ts";
import { fail, object } from "./schemas.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DIGEST = /^[1-9A-HJ-NP-Za-km-z]{43,44}$/;

/** Bytes in base64, padded and canonical, of a length in bounds. */
function base64(min: number, max: number, code: ErrorCode, description: string) {
  return z.string().transform((text, context) => {
    try {
      if (text.length <= 4 * Math.ceil(max / 3) && BASE64.test(text)) {
        const bytes = Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
        if (bytes.length >= min && bytes.length <= max) return bytes;
      }
    } catch {
      // Bits behind the last byte; falls through.
    }
    fail(context, code, `must be base64 of ${min} to ${max} bytes`);
    return new Uint8Array();
  }).meta({ type: "string", contentEncoding: "base64", description });
}

function matching(test: (text: string) => boolean, code: ErrorCode, message: string) {
  return z.string().superRefine((text, context) => {
    if (!test(text)) fail(context, code, message);
  });
}

/** Body of `POST /sponsor` (docs/protocol.md#9.1). */
export const SponsorBody = object({
  sender: matching(isObjectId, "invalid_sender", new SvcError("invalid_sender").message)
    .transform((sender) => sender.toLowerCase())
    .meta({ type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }),
  transactionBlockKindBytes: base64(
    limit.SPONSOR_KIND_MIN_BYTES,
    limit.SPONSOR_KIND_MAX_BYTES,
    "invalid_transaction",
    "BCS of a transaction kind, 10 to 7000 bytes",
  ),
});

/** Body of `POST /sponsor/execute` (docs/protocol.md#9.1). */
export const SponsorExecuteBody = object({
  digest: matching(
    (text) => DIGEST.test(text),
    "invalid_digest",
    "must be base58, 43 or 44 characters",
  ).meta({ type: "string", pattern: DIGEST.source }),
  signature: base64(
    limit.SPONSOR_SIGNATURE_MIN_BYTES,
    limit.SPONSOR_SIGNATURE_MAX_BYTES,
    "invalid_sponsor_signature",
    "the sender's signature of the transaction, 65 to 2048 bytes",
  ),
});

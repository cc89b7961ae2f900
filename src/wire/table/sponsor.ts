import { z } from "zod";
import { type ErrorCode, SvcError } from "../../errors.ts";
import { text } from "../answer_members.ts";
import { isObjectId } from "../keys.ts";
import * as limit from "../limits.ts";
import { fail, object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";

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
  }).meta({
    type: "string",
    contentEncoding: "base64",
    description,
    examples: [new Uint8Array(min).toBase64()],
  });
}

function matching(test: (text: string) => boolean, code: ErrorCode, message: string) {
  return z.string().superRefine((text, context) => {
    if (!test(text)) fail(context, code, message);
  });
}

const digest = () => text("Digest of the transaction, base58", "9".repeat(43));

const SPONSORED = { access: "sponsor" } as const;
const ERRORS = ["sponsor_rejected", "sponsor_budget_exhausted", "sponsor_overloaded"] as const;

/** Transactions that somebody else pays for. */
export const SPONSOR = {
  "POST /sponsor": {
    ...SPONSORED,
    summary: "Have a transaction paid for",
    bodyBytes: limit.SPONSOR_BODY_BYTES,
    body: object({
      sender: matching(isObjectId, "invalid_sender", new SvcError("invalid_sender").message)
        .transform((sender) => sender.toLowerCase())
        .meta({
          type: "string",
          pattern: "^0x[0-9a-fA-F]{64}$",
          examples: [`0x${"5f".repeat(32)}`],
        }),
      transactionBlockKindBytes: base64(
        limit.SPONSOR_KIND_MIN_BYTES,
        limit.SPONSOR_KIND_MAX_BYTES,
        "invalid_transaction",
        "BCS of a transaction kind, 10 to 7000 bytes",
      ),
    }),
    answers: () => ({
      200: z.strictObject({
        bytes: text("The transaction for the sender to sign, base64", "AAAC"),
        digest: digest(),
      }),
    }),
    errors: ["invalid_sender", "invalid_transaction", "move_call_not_allowed", ...ERRORS],
  },
  "POST /sponsor/execute": {
    ...SPONSORED,
    summary: "Execute a sponsored transaction",
    bodyBytes: limit.SPONSOR_EXECUTE_BODY_BYTES,
    body: object({
      digest: matching(
        (text) => DIGEST.test(text),
        "invalid_digest",
        "must be base58, 43 or 44 characters",
      ).meta({ type: "string", pattern: DIGEST.source, examples: ["9".repeat(43)] }),
      signature: base64(
        limit.SPONSOR_SIGNATURE_MIN_BYTES,
        limit.SPONSOR_SIGNATURE_MAX_BYTES,
        "invalid_sponsor_signature",
        "the sender's signature of the transaction, 65 to 2048 bytes",
      ),
    }),
    answers: () => ({ 200: z.strictObject({ digest: digest() }) }),
    errors: ["invalid_digest", "invalid_sponsor_signature", "sponsorship_not_found", ...ERRORS],
  },
} as const satisfies RouteRows;

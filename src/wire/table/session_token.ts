import { z } from "zod";
import { count, text } from "../answer_members.ts";
import { PERMISSIONS } from "../keys.ts";
import * as limit from "../limits.ts";
import { givenNamespace, object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";

/** What is asked for. It becomes part of the token, which has to fit into a header. */
export const ASKED_TOKEN = object({
  audience: z.string().meta({
    description: "Origin that the request is sent to",
    examples: ["http://localhost:8000"],
  }),
  expires_in: z.int()
    .min(limit.SESSION_TOKEN_SECONDS_MIN).max(limit.SESSION_TOKEN_SECONDS_MAX)
    .default(limit.SESSION_TOKEN_SECONDS).describe("Seconds until it ends; 3600 when absent"),
  permissions: z.array(z.enum(PERMISSIONS)).min(1).optional()
    .describe("What it allows of what the key may do; all of it when absent"),
  namespace: givenNamespace.optional().describe("Namespace of calls that name none"),
});

/** What a client shows on the MCP routes, so that its private key stays where it is. */
export const SESSION_TOKEN = {
  "POST /api/session-token": {
    access: "signed",
    summary: "Make a token that stands for the key on the MCP routes",
    needsNonce: true,
    bodyBytes: limit.SESSION_TOKEN_BODY_BYTES,
    body: ASKED_TOKEN,
    answers: () => ({
      200: z.strictObject({
        token: text("Bearer of the MCP routes", "svct1.A6EH"),
        expires_in: count("Seconds until it ends", limit.SESSION_TOKEN_SECONDS),
      }),
    }),
    errors: [
      "decrypt_credential_required",
      "decrypt_credential_invalid",
      "invalid_namespace",
      "permission_denied",
    ],
  },
} as const satisfies RouteRows;

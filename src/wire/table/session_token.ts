import { z } from "zod";
import { count, text } from "../answer_members.ts";
import { SESSION_TOKEN_SECONDS } from "../limits.ts";
import { object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";

/** What a client shows on the MCP routes, so that its private key stays where it is. */
export const SESSION_TOKEN = {
  "POST /api/session-token": {
    access: "signed",
    summary: "Make a token that stands for the key on the MCP routes",
    needsNonce: true,
    body: object({
      audience: z.string().meta({
        description: "Origin that the request is sent to",
        examples: ["http://localhost:8000"],
      }),
    }),
    answers: () => ({
      200: z.strictObject({
        token: text("Bearer of the MCP routes", "svct1.A6EH"),
        expires_in: count("Seconds until it ends", SESSION_TOKEN_SECONDS),
      }),
    }),
    errors: ["decrypt_credential_required", "decrypt_credential_invalid"],
  },
} as const satisfies RouteRows;

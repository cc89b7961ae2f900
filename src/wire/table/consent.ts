import { z } from "zod";
import { text } from "../answer_members.ts";
import { PERMISSIONS } from "../keys.ts";
import { CONSENT_BODY_BYTES } from "../limits.ts";
import type { RouteRows } from "../route.ts";

const CONSENT_ROW = { access: "consent", bodyBytes: CONSENT_BODY_BYTES } as const;
const request = z.string().meta({
  description: "What the browser was sent with",
  examples: ["AYmR…"],
});
const answered = () =>
  z.strictObject({
    redirect_to: text("Where the browser goes", "http://127.0.0.1:6274/callback?code=svcc1.…"),
  });

/** What the dashboard asks and answers in the owner's name. */
export const CONSENT = {
  "POST /oauth/consent": {
    ...CONSENT_ROW,
    summary: "What an app asks for",
    body: z.object({ request }),
    answers: () => ({
      200: z.strictObject({
        client_name: text("What the app calls itself", "Example").optional(),
        client_host: text("Host that vouches for it", "app.example").optional(),
        redirect_uri: text("Where the answer goes", "http://127.0.0.1:6274/callback"),
        scope: z.array(z.enum(PERMISSIONS)).describe("What it asks to be allowed"),
      }),
    }),
    errors: ["invalid_parameter"],
  },
  "POST /oauth/consent/approve": {
    ...CONSENT_ROW,
    summary: "Let an app in with a key that the owner has added",
    body: z.object({
      request,
      account_id: z.string().meta({ examples: [`0x${"5f".repeat(32)}`] }),
      private_key: z.string().meta({
        description: "The app's key, 64 hex characters: it goes on under the app's own code",
        examples: ["5c".repeat(32)],
      }),
    }),
    answers: () => ({ 200: answered() }),
    errors: [
      "invalid_parameter",
      "key_over_plain_http",
      "account_not_authorized",
      "key_exists",
      "chain_unavailable",
    ],
  },
  "POST /oauth/consent/deny": {
    ...CONSENT_ROW,
    summary: "Tell an app that it is not let in",
    body: z.object({ request }),
    answers: () => ({ 200: answered() }),
    errors: ["invalid_parameter"],
  },
} as const satisfies RouteRows;

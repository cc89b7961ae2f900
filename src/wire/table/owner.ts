import { z } from "zod";
import { flag, objectId, owner, text, timestamp } from "../answer_members.ts";
import { BOUND_NAMESPACES, PERMISSIONS } from "../keys.ts";
import { PUBLIC_BODY_BYTES } from "../limits.ts";
import { object, requiredNamespace, time } from "../request_members.ts";
import type { RouteRows } from "../route.ts";
import { delegateKey } from "./account.ts";

/** What an owner may ask for. */
export const OWNER_ACTIONS = [
  "open",
  "create",
  "add_key",
  "remove_key",
  "remove_all_keys",
  "deactivate",
  "reactivate",
] as const;

const params = z.record(z.string(), z.unknown()).meta({ examples: [{}] });
const publicKey = z.string().meta({ examples: ["a4".repeat(32)] });

/** A challenge, signed; what it was asked for stands in `params`. */
export const ownerProof = z.object({
  challenge: z.string().meta({ examples: ["svc owner request\n…"] }),
  signature: z.string().meta({ examples: ["AJk…"] }),
  params,
});

export const newKeyParams = z.object({
  params: object({
    public_key: publicKey,
    label: z.string().meta({ examples: ["laptop"] }),
    permissions: z.array(z.enum(PERMISSIONS)),
    expires_at: time.optional(),
    /** Namespaces that it is bound to, or beginnings of names that end in `/`. */
    namespaces: z.array(requiredNamespace).min(1).max(BOUND_NAMESPACES).optional(),
    /** Shows that somebody holds the key: its signature, 128 hex characters. */
    proof: z.string().meta({ examples: ["5c".repeat(64)] }),
  }),
});

export const removedKeyParams = z.object({ params: z.object({ public_key: publicKey }) });

const account = () =>
  z.strictObject({
    account_id: objectId("Object id of the account"),
    owner: owner(),
    active: flag("Whether it authorises anybody"),
    keys: z.array(delegateKey()),
  });

const OWNED = { access: "owner", bodyBytes: PUBLIC_BODY_BYTES } as const;
const CHANGES = {
  ...OWNED,
  body: ownerProof,
  answers: () => ({ 200: account() }),
  errors: ["owner_proof_invalid"],
} as const;

/** Embedded accounts, managed by their owners. */
export const OWNER = {
  "POST /accounts/challenge": {
    ...OWNED,
    summary: "A text for the owner's wallet to sign",
    body: z.object({
      address: z.string().meta({ examples: [`0x${"5f".repeat(32)}`] }),
      action: z.enum(OWNER_ACTIONS),
      params,
    }),
    answers: () => ({
      200: z.strictObject({
        challenge: text("What the wallet signs", "svc owner request\n…"),
        expires_at: timestamp("When it ends"),
      }),
    }),
    errors: ["invalid_parameter", "invalid_namespace", "empty_namespace"],
  },
  "POST /accounts": {
    ...CHANGES,
    summary: "Create an embedded account",
    answers: () => ({ 201: account() }),
    errors: ["owner_proof_invalid", "registration_closed", "account_exists"],
  },
  "POST /accounts/open": {
    ...CHANGES,
    summary: "The owner's account, made when missing",
    answers: () => ({
      200: account().describe("The account there was"),
      201: account().describe("The account that was made"),
    }),
    errors: ["owner_proof_invalid", "registration_closed"],
  },
  "POST /accounts/:id/keys": {
    ...CHANGES,
    summary: "Add a delegate key",
    body: ownerProof.extend(newKeyParams.shape),
    errors: [
      "owner_proof_invalid",
      "invalid_parameter",
      "invalid_namespace",
      "empty_namespace",
      "key_exists",
    ],
  },
  "POST /accounts/:id/keys/remove": {
    ...CHANGES,
    summary: "Remove a delegate key",
    body: ownerProof.extend(removedKeyParams.shape),
  },
  "POST /accounts/:id/keys/remove_all": { ...CHANGES, summary: "Remove every delegate key" },
  "POST /accounts/:id/deactivate": { ...CHANGES, summary: "Deactivate an account" },
  "POST /accounts/:id/reactivate": { ...CHANGES, summary: "Reactivate an account" },
} as const satisfies RouteRows;

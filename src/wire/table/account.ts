import { z } from "zod";
import { count, flag, namespace, objectId, owner, text, timestamp } from "../answer_members.ts";
import { PERMISSIONS } from "../keys.ts";
import * as limit from "../limits.ts";
import { pageLimit } from "../query_members.ts";
import type { RouteRows } from "../route.ts";

const key = () => ({
  public_key: text("Public key, 64 hex characters", "a4".repeat(32)),
  address: objectId("Its address"),
  label: text("Name for people", "laptop"),
  permissions: z.array(z.enum(PERMISSIONS)),
  created_at: timestamp("When it was added"),
  expires_at: timestamp("When it ends").optional(),
  namespaces: z.array(namespace())
    .describe("Namespaces there are for it, or beginnings that end in `/`; all when absent")
    .optional(),
});

/** A delegate key of an account. */
export const delegateKey = () => z.strictObject(key());

/** The caller's account: its keys, and what they did. */
export const ACCOUNT = {
  "GET /api/account": {
    access: "signed",
    summary: "The caller's account, key and quota",
    weight: 0,
    answers: () => ({
      200: z.strictObject({
        owner: owner(),
        account_id: objectId("Object id of the account"),
        package_id: objectId("Package of the account"),
        active: flag("Whether it authorises anybody"),
        key: delegateKey().describe("The key that signed"),
        token: z.strictObject({
          expires_at: timestamp("When it ends"),
          namespace: namespace().describe("Namespace of calls that name none").optional(),
        }).optional().describe("What stood for the key, on the way of an MCP request"),
        quota: z.strictObject({
          used_bytes: count("Storage used; absent without `read`", 212).optional(),
          limit_bytes: z.int().nullable().meta({
            description: "Storage allowed; null is unlimited",
            examples: [null],
          }),
        }),
        unread_languages: z.array(z.string()).meta({
          description: "Languages of memories that are found by words only, codes of ISO 639 or " +
            "`und`, as far as the relayer saw them since it started; absent where there are none, " +
            "without `read`, and for a key of some namespaces",
          examples: [["de"]],
        }).optional(),
      }),
    }),
    errors: [],
  },
  "GET /api/account/keys": {
    access: "signed",
    permissions: ["read"],
    summary: "The account's keys and when each was used last",
    weight: 0,
    answers: () => ({
      200: z.strictObject({
        keys: z.array(z.strictObject({
          ...key(),
          last_used_at: timestamp("When it signed last; absent when it never did").optional(),
        })),
      }),
    }),
    errors: [],
  },
  "GET /api/account/activity": {
    access: "signed",
    permissions: ["read"],
    summary: "What keys did with the account, newest first",
    weight: 0,
    query: z.object({
      limit: pageLimit(limit.ACTIVITY_PAGE_DEFAULT, limit.ACTIVITY_PAGE_MAX),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
      key: z.string().optional().describe("Only what this key did; `owner` is the owner's wallet"),
    }),
    answers: () => ({
      200: z.strictObject({
        entries: z.array(z.strictObject({
          key: text("Public key that signed; `owner` where the wallet did", "a4".repeat(32)),
          action: text("Name of the route; of the owner, the action signed", "POST /api/recall"),
          namespace: namespace().optional(),
          via: z.enum(["http", "mcp", "program"]),
          from: z.enum(["this_machine", "private_network", "internet", "unknown"]),
          outcome: text("`ok`, or the code of the error", "ok"),
          count: count("How many requests within a minute, or a day where a key has many entries"),
          first_at: timestamp("Time of the first"),
          last_at: timestamp("Time of the last"),
        })),
        next_cursor: text("Where the next page starts; absent on the last").optional(),
      }),
    }),
    errors: ["invalid_parameter", "invalid_cursor"],
  },
} as const satisfies RouteRows;

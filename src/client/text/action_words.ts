import type { SignedName } from "../../wire/route_types.ts";
import type { OWNER_ACTIONS } from "../../wire/table/owner.ts";

/** What is noted of an app that was let in by OAuth besides what its key asks for. */
type OAuthAction = "POST /oauth/token";

const WORDS: Readonly<Record<SignedName | OAuthAction | typeof OWNER_ACTIONS[number], string>> = {
  "POST /api/remember": "saved a memory",
  "POST /api/remember/bulk": "saved several memories",
  "POST /api/remember/manual": "saved an encrypted memory",
  "GET /api/remember/:id": "asked for a job",
  "POST /api/remember/:id/retry": "started a job again",
  "POST /api/remember/bulk/status": "asked for jobs",
  "POST /api/analyze": "saved the facts of a text",
  "POST /api/recall": "searched",
  "POST /api/recall/manual": "searched by a vector",
  "POST /api/ask": "asked a question",
  "POST /api/embed": "embedded a text",
  "POST /api/restore": "restored a namespace",
  "GET /api/memories": "listed memories",
  "GET /api/memories/:id": "read a memory",
  "PUT /api/memories/:id": "corrected a memory",
  "DELETE /api/memories/:id": "deleted a memory",
  "POST /api/export": "exported memories",
  "POST /api/import": "imported memories",
  "GET /api/namespaces": "listed namespaces",
  "PUT /api/namespaces": "chose what becomes of contradictions",
  "GET /api/review": "looked at what is to be reviewed",
  "POST /api/review": "accepted or undid what a rule found",
  "POST /api/stats": "counted memories",
  "POST /api/forget": "deleted a namespace",
  "POST /api/receipts": "asked for a receipt",
  "GET /api/account": "read the account",
  "GET /api/account/keys": "listed keys",
  "GET /api/account/activity": "read the activity",
  "POST /api/session-token": "made a session token",
  "POST /oauth/token": "renewed its access",
  open: "signed in",
  create: "made the account",
  add_key: "added a key",
  remove_key: "removed a key",
  remove_all_keys: "removed every key",
  deactivate: "switched the account off",
  reactivate: "switched the account on",
};

/** What an entry of activity did, for people; an action that is not known stays what it is. */
export function actionWords(action: string): string {
  return Object.hasOwn(WORDS, action) ? WORDS[action as keyof typeof WORDS] : action;
}

/** Where an entry of activity came from, for people. */
export function fromWords(from: string): string {
  return from === "unknown" ? "an unknown place" : from.replaceAll("_", " ");
}

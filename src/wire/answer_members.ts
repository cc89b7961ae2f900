import { z } from "zod";
import { ERROR_CODES } from "../errors.ts";

// Members that answers share. Their examples make up the examples of the API description; without
// one, a member that may be missing is left out of them.

export function text(description: string, example?: string) {
  return z.string().meta({
    description,
    ...(example === undefined ? {} : { examples: [example] }),
  });
}

export function uuid(description: string) {
  return text(description, "01982d4e-7a31-7c52-9f0e-5d3b1c8a6e24");
}

export function objectId(description: string) {
  return text(description, `0x${"5f".repeat(32)}`);
}

/** A date and time of RFC 3339, in UTC. */
export function timestamp(description: string) {
  return z.string().meta({ description, format: "date-time" });
}

/** A whole number from 0. */
export function count(description: string, example?: number) {
  const schema = z.int().min(0);
  return schema.meta({ description, ...(example === undefined ? {} : { examples: [example] }) });
}

export function number(description: string, example: number) {
  return z.number().meta({ description, examples: [example] });
}

export function flag(description: string, example = true) {
  return z.boolean().meta({ description, examples: [example] });
}

export const owner = () => objectId("Address of the owner");

export const namespace = () => text("Namespace", "default");

export const blobId = () => text("Id of the blob; empty until it is stored", "");

/** Flat data of the caller. */
export function metadata() {
  const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
  return z.record(z.string(), value).meta({ description: "Data of the caller" });
}

/** When a memory is true, who says so, and how it stands to others. */
export function standing() {
  const ids = (description: string) => z.array(uuid("Id of a memory")).describe(description);
  return {
    valid_from: timestamp("Since when it is true").optional(),
    valid_to: timestamp("Until when it is true").optional(),
    key: text("What it is about", "me/home city").optional(),
    session: text("Session it was said in, as its writer names it").optional(),
    position: count("Its place in the session, from 0", 0).optional(),
    trust: z.enum(["user", "agent", "import", "web"]).optional()
      .describe("Who says so; absent where nobody knows"),
    written_by: text("Public key that signed for it, 64 hex characters").optional(),
    written_by_label: text("Label of that key, where the account lists it").optional(),
    superseded_by: uuid("The memory that took its place").optional(),
    supersedes: ids("Memories whose place it took").optional(),
    conflicts_with: ids("Memories that say something else about the same thing").optional(),
    restates: uuid("The memory that says the same and stands for it").optional(),
    restated: count("Memories that say the same, for which it stands").optional(),
    restated_at: timestamp("When the last of them was written").optional(),
    restatements: ids("The newest 20 of them").optional(),
    copies: count("How often it was sent again, word for word", 1).optional(),
    copied_at: timestamp("When it was sent again last").optional(),
  };
}

/** How a memory stands to another one. */
export const linkKind = () => z.enum(["supersedes", "conflicts", "restates", "distinct"]);

/** Whether what says the same is looked for. */
export const deduplicating = () =>
  z.boolean().describe("Whether what says the same as a memory that is there is kept behind it");

/** What becomes of memories that say something else than an older one. */
export const conflictPolicy = () =>
  z.enum(["suggest", "auto", "off"])
    .describe("What becomes of memories that say something else than an older one");

/** How far a job is. */
export function jobState() {
  return z.enum(["pending", "running", "uploaded", "done", "failed"]).meta({
    description: "State of the job",
  });
}

/** Secrets that were taken out of what was stored. */
export function redacted() {
  return z.array(z.strictObject({
    kind: text("Kind of the secrets, such as aws_access_key"),
    count: count("How many were replaced"),
  })).optional().describe("Secrets that were replaced by their kind; absent where there were none");
}

/** The body of every error outside of MCP. */
export function errorShape() {
  return z.strictObject({
    error: text("Text for people; may change"),
    code: z.enum(ERROR_CODES).describe("Stable name"),
    request_id: text("Id of the request, as in the header"),
    field: text("Path of the member at fault, such as items[3].text").optional(),
    layer: text("The limit that was met").optional(),
    limit: text("What that limit allows").optional(),
    kind: text("Kind of the secret that was found").optional(),
    offset: count("Characters before the secret").optional(),
    length: count("Characters of the secret").optional(),
    retry_after_seconds: count("Whole seconds to wait").optional(),
  });
}

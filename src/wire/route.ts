import type { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import type { Access } from "./route_types.ts";

/** What an answer holds: JSON of a shape, or shapes by media type; none for one without a body. */
export type AnswerShape = z.ZodType | Readonly<Record<string, z.ZodType>>;

/** What the table says about a route besides its name, which is its method and its path. */
export interface Route {
  /** Who may call it. */
  readonly access: Access;
  /** One line about what it does. */
  readonly summary: string;
  /** What the key must be allowed; any key will do where this is absent. */
  readonly permissions?: readonly ("read" | "write")[];
  /** What it costs against the rate limits; 1 when absent, 0 is free up to a rate. */
  readonly weight?: number;
  /** Whether a signed text that is sent again must not write twice. */
  readonly writes?: true;
  /** Whether only a signature with a nonce will do: no 4-field form, and no session token. */
  readonly needsNonce?: true;
  /** Whether an idempotency key is honoured. */
  readonly idempotent?: true;
  /** Shape of the query's members; without one they are not looked at. */
  readonly query?: z.ZodType;
  /** Shape of the body; absent for requests without one. */
  readonly body?: z.ZodType;
  /** Whether the body is NDJSON: its shape is given the lines as one text. */
  readonly lines?: true;
  /** Whether the body is a form (`application/x-www-form-urlencoded`). */
  readonly form?: true;
  /** Whether an empty body stands for `{}`. */
  readonly optionalBody?: true;
  /** Largest body in bytes; 2 MiB when absent. */
  readonly bodyBytes?: number;
  /** Successful answers by status. A function: only descriptions and tests need the shapes made. */
  readonly answers: () => Readonly<Record<number, AnswerShape>>;
  /** Codes of errors besides those that every route of its access has. */
  readonly errors: readonly ErrorCode[];
}

/** Rows by the names of their routes, such as `GET /api/remember/:id`; `:id` is the only parameter. */
export type RouteRows = Readonly<Record<`${"GET" | "POST" | "PUT" | "DELETE"} /${string}`, Route>>;

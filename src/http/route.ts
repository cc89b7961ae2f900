import type { z } from "zod";
import type { DelegateKey, Permission } from "../interfaces/mod.ts";
import type { Mutation } from "../jobs/kv_writer.ts";
import type { Caller } from "../memory/caller.ts";
import type { Domain } from "../memory/domain.ts";

/** Body and status of an answer. */
export interface Answer {
  /** HTTP status. */
  readonly status: number;
  /** JSON body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a signed route is given. */
export interface Call<B> {
  /** Who asks. */
  readonly caller: Caller;
  /** The key that signed. */
  readonly key: DelegateKey;
  /** The validated body. */
  readonly body: B;
  /** The path's parameter. */
  readonly id: string;
  /** Members of the query. */
  readonly query: ReadonlyMap<string, string>;
  /**
   * Mutations that make this answer the one that replays get; to be part of the commit that accepts
   * the request. A route that has no commit of its own need not call it.
   */
  keep(answer: Answer): readonly Mutation[];
}

/** A signed route of docs/protocol.md#10. */
export interface SignedRoute {
  /** HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path; `:id` stands for a UUID. */
  readonly path: string;
  /** What the key must be allowed. */
  readonly permissions: readonly Permission[];
  /** Weight of docs/protocol.md#7; 0 = free up to a rate. */
  readonly weight: number;
  /** Whether an equal signed text must not write twice (docs/protocol.md#4.4). */
  readonly writes: boolean;
  /** Whether `Idempotency-Key` is honoured. */
  readonly idempotent: boolean;
  /** Whether a query is taken. */
  readonly takesQuery: boolean;
  /** Shape of the body; absent for requests without one. */
  readonly schema: z.ZodType | undefined;
  /** Whether an empty body stands for `{}`. */
  readonly optionalBody: boolean;
  /** One line for the API description. */
  readonly summary: string;
  /** Status of success. */
  readonly success: number;
  /** Answers a request whose body has passed the schema. */
  readonly handle: (domain: Domain, call: Call<unknown>) => Promise<Answer>;
}

/** A route as written down: what is not said has the default of most routes. */
export interface RouteDefinition<S extends z.ZodType> {
  /** HTTP method. */
  readonly method: SignedRoute["method"];
  /** Path; `:id` stands for a UUID. */
  readonly path: string;
  /** What the key must be allowed; none = any key. */
  readonly permissions?: readonly Permission[];
  /** Weight of docs/protocol.md#7; default 1. */
  readonly weight?: number;
  /** Whether it writes; default false. */
  readonly writes?: boolean;
  /** Whether `Idempotency-Key` is honoured; default false. */
  readonly idempotent?: boolean;
  /** Whether a query is taken; default false. */
  readonly takesQuery?: boolean;
  /** Shape of the body. */
  readonly schema?: S;
  /** Whether an empty body stands for `{}`; default false. */
  readonly optionalBody?: boolean;
  /** One line for the API description. */
  readonly summary: string;
  /** Status of success; default 200. */
  readonly success?: number;
  /** Answers a request. */
  readonly handle: (domain: Domain, call: Call<z.output<S>>) => Promise<Answer>;
}

/** Completes a route; the schema's type is the handler's. */
export function signedRoute<S extends z.ZodType>(route: RouteDefinition<S>): SignedRoute {
  return {
    method: route.method,
    path: route.path,
    permissions: route.permissions ?? [],
    weight: route.weight ?? 1,
    writes: route.writes ?? false,
    idempotent: route.idempotent ?? false,
    takesQuery: route.takesQuery ?? false,
    schema: route.schema,
    optionalBody: route.optionalBody ?? false,
    summary: route.summary,
    success: route.success ?? 200,
    // The router parses the body with this very schema before it calls.
    handle: (domain, call) => route.handle(domain, call as Call<z.output<S>>),
  };
}

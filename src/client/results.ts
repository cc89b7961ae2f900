import type { AnswerOf, RouteName } from "../wire/route_types.ts";

/** What a route answers, once it does. */
export type Answer<N extends RouteName> = Promise<AnswerOf<N>>;

/** Answer of an accepted remember. */
export type Accepted = AnswerOf<"POST /api/remember">;

/** A job. */
export type JobRecord = AnswerOf<"GET /api/remember/:id">;

/** A job in a bulk status; of an unknown one nothing but that. */
export type JobStatus = AnswerOf<"POST /api/remember/bulk/status">["results"][number];

/** Answer of a recall. */
export type Recalled = AnswerOf<"POST /api/recall">;

/** A memory found by a recall. */
export type Hit = Recalled["results"][number];

/** One page of memories. */
export type MemoryPage = AnswerOf<"GET /api/memories">;

/** A memory. */
export type Memory = MemoryPage["memories"][number];

/** A namespace. */
export type NamespaceInfo = AnswerOf<"GET /api/namespaces">["namespaces"][number];

/** Answer of an accepted replacement. */
export type UpdateAccepted = AnswerOf<"PUT /api/memories/:id">;

/** A memory that is to be reviewed. */
export type Reviewed = AnswerOf<"GET /api/review">["items"][number];

/** Answer of an import. */
export type Imported = AnswerOf<"POST /api/import">;

/** Requests of one kind by one key within a minute. */
export type Activity = AnswerOf<"GET /api/account/activity">["entries"][number];

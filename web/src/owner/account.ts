import type { AnswerOf, Sent } from "../../../src/wire/route_types.ts";

/** A key of an account, as the relayer lists it; an account on a chain names no addresses. */
export type AccountKey = Omit<AnswerOf<"GET /api/account/keys">["keys"][number], "address">;

/** An account, as the owner routes answer it. */
export type Account = Omit<AnswerOf<"POST /accounts">, "keys"> & {
  /** Its keys. */
  readonly keys: readonly AccountKey[];
};

/** A key to be added. */
export type NewKey = Sent<"POST /accounts/:id/keys">["params"];

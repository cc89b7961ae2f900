import { deepStrictEqual } from "node:assert/strict";
import type { z } from "zod";
import type { errorShape } from "../../src/wire/answer_members.ts";
import { ROUTES } from "../../src/wire/routes.ts";
import type { ErrorBody, RouteName, RouteTypes } from "../../src/wire/route_types.ts";

type Table = typeof ROUTES;

/** A value that its holder may not change, at any depth. */
type Frozen<T> = T extends readonly (infer E)[] ? readonly Frozen<E>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;

type Assignable<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false;

/** Where any JSON is read, what makes sense is a description only. */
type Described<N extends RouteName, M extends string> = RouteTypes[N] extends
  { readonly [K in M]: infer T } ? T : never;

/** What the table says a route takes, by the names of the parts. */
type Taken<N extends RouteName> = {
  [M in "body" | "query" as Table[N] extends { readonly [K in M]: z.ZodType } ? M : never]:
    Table[N] extends { readonly [K in M]: { readonly _input: infer T } }
      ? unknown extends T ? Described<N, M> : Frozen<T>
      : never;
};

/** What the table says a route answers in JSON, by status. */
type Answered<N extends RouteName> = {
  [
    S in keyof ReturnType<Table[N]["answers"]> as ReturnType<Table[N]["answers"]>[S] extends
      z.ZodType ? S
      : never
  ]: ReturnType<Table[N]["answers"]>[S] extends { readonly _output: infer T } ? Frozen<T> : never;
};

type Wrong = {
  [N in RouteName]: [
    Assignable<RouteTypes[N]["access"], Table[N]["access"]>,
    Assignable<Omit<RouteTypes[N], "access" | "answers">, Taken<N>>,
    Assignable<RouteTypes[N] extends { answers: infer A } ? A : Record<never, never>, Answered<N>>,
  ] extends [true, true, true] ? never : N;
}[RouteName];

/** Does not compile for any other type than `true`. */
function isTrue<T extends true>(): T | undefined {
  return undefined;
}

Deno.test("the written types of routes are those of the table", () => {
  isTrue<Assignable<keyof Table, RouteName>>();
  isTrue<[Wrong] extends [never] ? true : Wrong>();
  isTrue<Assignable<ErrorBody, z.output<ReturnType<typeof errorShape>>>>();
  const names: readonly string[] = Object.keys(ROUTES);
  deepStrictEqual(new Set(names).size, names.length);
});

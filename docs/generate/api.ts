import { openApi } from "../../src/http/openapi.ts";
import { routeNames, rowOf } from "../../src/wire/routes.ts";
import { VERSION } from "../../src/wire/version.ts";
import type { Schema } from "./shape.ts";

/** A body by its media type. */
export interface Content {
  readonly description?: string;
  readonly content?: Readonly<
    Record<string, { readonly schema: Schema; readonly example?: unknown }>
  >;
}

/** As much of an OpenAPI operation as is shown. */
export interface Operation {
  readonly summary: string;
  readonly requestBody?: Content;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly responses: Readonly<Record<string, Content>>;
  readonly security?: unknown;
  readonly "x-permissions"?: readonly string[];
  readonly "x-error-codes"?: Readonly<Record<string, readonly string[]>>;
}

/** Every route that the API description has, by method and path such as `GET /api/memories/{id}`. */
export function operations(): ReadonlyMap<string, Operation> {
  const { paths } = openApi(VERSION) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one])
    ),
  );
}

/** A route's name as OpenAPI writes it: `GET /api/memories/{id}`. */
export function pathOf(name: string): string {
  return name.replace(":id", "{id}");
}

/** What the routes weigh in the rate limits; those that are not named have none. */
export const WEIGHTS: Readonly<Record<string, number>> = Object.fromEntries(
  routeNames("signed").map((name) => [pathOf(name), rowOf(name).weight ?? 1]),
);

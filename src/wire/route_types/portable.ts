// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/portable.ts` take and answer. */
export interface PortableRoutes {
  /** Every memory, as NDJSON. */
  readonly "POST /api/export": {
    readonly access: "signed";
    readonly body: {
      /** 1 to 256 bytes; missing means every namespace. */
      readonly namespace?: string | undefined;
      /** Whether earlier versions are in it. */
      readonly history?: boolean | undefined;
    };
  };
  /** Take memories of an export, up to 200. */
  readonly "POST /api/import": {
    readonly access: "signed";
    readonly query: {
      readonly bring_back?: false | true | undefined;
      readonly secrets?: "refuse" | "redact" | "allow" | undefined;
    };
    readonly body: string;
    readonly answers: {
      readonly 202: {
        /** Lines that became jobs. */
        readonly accepted: number;
        /** Lines that were not taken, for the reasons in `skips`. */
        readonly skipped: number;
        /** Lines that were refused. */
        readonly failed: number;
        readonly job_ids: readonly string[];
        readonly skips: readonly {
          /** Number of the line, from 1. */
          readonly line: number;
          /** Why it was not taken. */
          readonly reason: "exists" | "older" | "deleted" | "expired" | "history";
        }[];
        readonly errors: readonly {
          /** Number of the line, from 1. */
          readonly line: number;
          /** Code of the error. */
          readonly code: string;
          /** The error for people. */
          readonly error: string;
        }[];
        readonly status: "pending";
        /** Secrets that were replaced by their kind; absent where there were none. */
        readonly redacted?:
          | readonly {
            /** Kind of the secrets, such as aws_access_key. */
            readonly kind: string;
            /** How many were replaced. */
            readonly count: number;
          }[]
          | undefined;
      };
    };
  };
}

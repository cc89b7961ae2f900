// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/session_token.ts` take and answer. */
export interface SessionTokenRoutes {
  /** Make a token that stands for the key on the MCP routes. */
  readonly "POST /api/session-token": {
    readonly access: "signed";
    readonly body: {
      /** Origin that the request is sent to. */
      readonly audience: string;
      /** Seconds until it ends; 3600 when absent. */
      readonly expires_in?: number | undefined;
      /** What it allows of what the key may do; all of it when absent. */
      readonly permissions?: readonly ("read" | "write" | "manage")[] | undefined;
      /** Namespace of calls that name none. */
      readonly namespace?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Bearer of the MCP routes. */
        readonly token: string;
        /** Seconds until it ends. */
        readonly expires_in: number;
      };
    };
  };
}

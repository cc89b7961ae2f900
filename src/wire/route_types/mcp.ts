// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/mcp.ts` take and answer. */
export interface McpRoutes {
  /** Open a session of HTTP with SSE. */
  readonly "GET /api/mcp/sse": {
    readonly access: "mcp";
    readonly query: {
      /** `search`: the tools of research alone. */
      readonly tools?: "search" | undefined;
    };
  };
  /** Messages of a session of HTTP with SSE. */
  readonly "POST /api/mcp/messages": {
    readonly access: "mcp";
    readonly body: unknown;
  };
  /** Messages of the server in a session of Streamable HTTP. */
  readonly "GET /api/mcp": {
    readonly access: "mcp";
  };
  /** Messages of Streamable HTTP, with a session or without. */
  readonly "POST /api/mcp": {
    readonly access: "mcp";
    readonly query: {
      /** `search`: the tools of research alone. */
      readonly tools?: "search" | undefined;
    };
    readonly body: unknown;
  };
  /** End a session of Streamable HTTP. */
  readonly "DELETE /api/mcp": {
    readonly access: "mcp";
  };
  /** The same as of /api/mcp, for apps that were let in by OAuth. */
  readonly "GET /api/mcp/connect": {
    readonly access: "mcp";
    readonly query: {
      /** `search`: the tools of research alone. */
      readonly tools?: "search" | undefined;
    };
  };
  /** Messages of Streamable HTTP of apps that were let in by OAuth. */
  readonly "POST /api/mcp/connect": {
    readonly access: "mcp";
    readonly query: {
      /** `search`: the tools of research alone. */
      readonly tools?: "search" | undefined;
    };
    readonly body: unknown;
  };
  /** End a session of such an app. */
  readonly "DELETE /api/mcp/connect": {
    readonly access: "mcp";
  };
}

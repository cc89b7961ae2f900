// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/oauth.ts` take and answer. */
export interface OAuthRoutes {
  /** Who lets apps in to the MCP endpoint. */
  readonly "GET /.well-known/oauth-protected-resource/api/mcp/connect": {
    readonly access: "oauth";
    readonly answers: {
      readonly 200: {
        /** Address of the MCP endpoint. */
        readonly resource: string;
        /** Who issues tokens for it. */
        readonly authorization_servers: readonly string[];
        /** What apps may ask for. */
        readonly scopes_supported: readonly string[];
        /** How a token is sent. */
        readonly bearer_methods_supported: readonly string[];
        /** Name for people. */
        readonly resource_name: string;
      };
    };
  };
  /** What the authorization server offers. */
  readonly "GET /.well-known/oauth-authorization-server/oauth": {
    readonly access: "oauth";
    readonly answers: {
      readonly 200: {
        /** Its name. */
        readonly issuer: string;
        /** Where browsers go. */
        readonly authorization_endpoint: string;
        /** Where codes become tokens. */
        readonly token_endpoint: string;
        /** Where apps register. */
        readonly registration_endpoint: string;
        /** Where tokens are given back. */
        readonly revocation_endpoint: string;
        /** What apps may ask for. */
        readonly scopes_supported: readonly string[];
        /** What browsers bring back. */
        readonly response_types_supported: readonly string[];
        /** For what there are tokens. */
        readonly grant_types_supported: readonly string[];
        /** How apps prove themselves. */
        readonly token_endpoint_auth_methods_supported: readonly string[];
        /** The same, there. */
        readonly revocation_endpoint_auth_methods_supported: readonly string[];
        /** Methods of PKCE. */
        readonly code_challenge_methods_supported: readonly string[];
        /** Whether an app's id may be the address of its document. */
        readonly client_id_metadata_document_supported: boolean;
        /** Answers name the issuer (RFC 9207). */
        readonly authorization_response_iss_parameter_supported: true;
      };
    };
  };
  /** Brings a browser to the question whether an app is let in. */
  readonly "GET /oauth/authorize": {
    readonly access: "oauth";
    readonly query: {
      /** `code`. */
      readonly response_type?: string | undefined;
      /** Id that the app registered, or the address of its document. */
      readonly client_id?: string | undefined;
      /** Where the answer goes: one of the app's. */
      readonly redirect_uri?: string | undefined;
      /** SHA-256 of the app's secret, in base64url. */
      readonly code_challenge?: string | undefined;
      /** `S256`. */
      readonly code_challenge_method?: string | undefined;
      /** What is asked for: `read`, `write`, `manage`, apart by blanks. */
      readonly scope?: string | undefined;
      /** Comes back with the answer. */
      readonly state?: string | undefined;
      /** Address of the MCP endpoint. */
      readonly resource?: string | undefined;
    };
  };
  /** Register an app. */
  readonly "POST /oauth/register": {
    readonly access: "oauth";
    readonly body: {
      readonly redirect_uris?: unknown | undefined;
      readonly client_name?: unknown | undefined;
      readonly grant_types?: unknown | undefined;
    };
    readonly answers: {
      readonly 201: {
        /** Id of the app. */
        readonly client_id: string;
        /** When, in seconds since the epoch. */
        readonly client_id_issued_at: number;
        /** Its name. */
        readonly client_name?: string | undefined;
        /** Where answers may go. */
        readonly redirect_uris: readonly string[];
        readonly token_endpoint_auth_method: "none";
        /** What it may use. */
        readonly grant_types: readonly string[];
        /** What it may use. */
        readonly response_types: readonly string[];
      };
    };
  };
  /** Tokens for a code or a refresh token. */
  readonly "POST /oauth/token": {
    readonly access: "oauth";
    readonly body: {
      /** `authorization_code` or `refresh_token`. */
      readonly grant_type?: string | undefined;
      /** Id of the app. */
      readonly client_id?: string | undefined;
      /** The code. */
      readonly code?: string | undefined;
      /** Where the code was sent. */
      readonly redirect_uri?: string | undefined;
      /** The app's secret. */
      readonly code_verifier?: string | undefined;
      /** The newest refresh token. */
      readonly refresh_token?: string | undefined;
      /** Less than was granted; all of it when absent. */
      readonly scope?: string | undefined;
      /** Address of the MCP endpoint. */
      readonly resource?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        /** Bearer of the MCP endpoint. */
        readonly access_token: string;
        readonly token_type: "Bearer";
        /** Seconds until it ends. */
        readonly expires_in: number;
        /** For the next token, once. */
        readonly refresh_token: string;
        /** What it allows. */
        readonly scope: string;
      };
    };
  };
  /** End what a token stands for. */
  readonly "POST /oauth/revoke": {
    readonly access: "oauth";
    readonly body: {
      /** An access token or a refresh token. */
      readonly token?: string | undefined;
      /** Which of the two. */
      readonly token_type_hint?: string | undefined;
      /** Id of the app. */
      readonly client_id?: string | undefined;
    };
  };
}

// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/consent.ts` take and answer. */
export interface ConsentRoutes {
  /** What an app asks for. */
  readonly "POST /oauth/consent": {
    readonly access: "consent";
    readonly body: {
      /** What the browser was sent with. */
      readonly request: string;
    };
    readonly answers: {
      readonly 200: {
        /** What the app calls itself. */
        readonly client_name?: string | undefined;
        /** Host that vouches for it. */
        readonly client_host?: string | undefined;
        /** Where the answer goes. */
        readonly redirect_uri: string;
        /** What it asks to be allowed. */
        readonly scope: readonly ("read" | "write" | "manage")[];
      };
    };
  };
  /** Let an app in with a key that the owner has added. */
  readonly "POST /oauth/consent/approve": {
    readonly access: "consent";
    readonly body: {
      /** What the browser was sent with. */
      readonly request: string;
      readonly account_id: string;
      /** The app's key, 64 hex characters: it goes on under the app's own code. */
      readonly private_key: string;
    };
    readonly answers: {
      readonly 200: {
        /** Where the browser goes. */
        readonly redirect_to: string;
      };
    };
  };
  /** Tell an app that it is not let in. */
  readonly "POST /oauth/consent/deny": {
    readonly access: "consent";
    readonly body: {
      /** What the browser was sent with. */
      readonly request: string;
    };
    readonly answers: {
      readonly 200: {
        /** Where the browser goes. */
        readonly redirect_to: string;
      };
    };
  };
}

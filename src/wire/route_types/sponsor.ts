// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/sponsor.ts` take and answer. */
export interface SponsorRoutes {
  /** Have a transaction paid for. */
  readonly "POST /sponsor": {
    readonly access: "sponsor";
    readonly body: {
      readonly sender: string;
      /** BCS of a transaction kind, 10 to 7000 bytes. */
      readonly transactionBlockKindBytes: string;
    };
    readonly answers: {
      readonly 200: {
        /** The transaction for the sender to sign, base64. */
        readonly bytes: string;
        /** Digest of the transaction, base58. */
        readonly digest: string;
      };
    };
  };
  /** Execute a sponsored transaction. */
  readonly "POST /sponsor/execute": {
    readonly access: "sponsor";
    readonly body: {
      readonly digest: string;
      /** the sender's signature of the transaction, 65 to 2048 bytes. */
      readonly signature: string;
    };
    readonly answers: {
      readonly 200: {
        /** Digest of the transaction, base58. */
        readonly digest: string;
      };
    };
  };
}

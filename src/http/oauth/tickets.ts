import type { Sealer } from "../../interfaces/plugin.ts";
import { SvcError } from "../../errors.ts";
import type { Permission } from "../../interfaces/mod.ts";

/** What an app asks for, checked, on its way through the owner's browser. */
export interface AskedGrant {
  readonly clientId: string;
  /** What the app calls itself. */
  readonly name: string | undefined;
  /** Host that vouches for the app; absent where nobody does. */
  readonly host?: string | undefined;
  /** Where the answer goes: one of the app's. */
  readonly redirectUri: string;
  /** What the app knows its question by. */
  readonly state: string | undefined;
  /** SHA-256 of a secret of the app, in base64url (RFC 7636). */
  readonly challenge: string;
  /** What it asks to be allowed. */
  readonly scope: readonly Permission[];
}

interface Sealed extends AskedGrant {
  /** Milliseconds since the epoch. */
  readonly until: number;
}

const TICKET_MS = 600_000;
const PURPOSE = "what an app asks for";
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;
const TICKET = /^[\w-]{40,12000}$/;

/**
 * What apps ask for, sealed by this relayer: the browser carries it from the app's question to the
 * owner's answer, so that no stranger can fill a table here.
 */
export class Tickets {
  readonly #sealer: Pick<Sealer, "seal" | "open">;
  readonly #now: () => number;

  constructor(sealer: Pick<Sealer, "seal" | "open">, now: () => number) {
    this.#sealer = sealer;
    this.#now = now;
  }

  /** Seals a question; it can be answered for ten minutes. */
  seal(asked: AskedGrant): string {
    const sealed: Sealed = { ...asked, until: this.#now() + TICKET_MS };
    const bytes = new TextEncoder().encode(JSON.stringify(sealed));
    return this.#sealer.seal(bytes, PURPOSE).toBase64(BASE64URL);
  }

  /**
   * Opens a question.
   *
   * @throws {SvcError} `invalid_parameter` when this relayer did not seal it, or its time is over.
   */
  open(ticket: string): Sealed {
    let asked: Sealed | undefined;
    try {
      if (TICKET.test(ticket)) {
        const bytes = Uint8Array.fromBase64(ticket, { alphabet: "base64url" });
        asked = JSON.parse(new TextDecoder().decode(this.#sealer.open(bytes, PURPOSE)));
      }
    } catch {
      // Not one of ours.
    }
    if (asked !== undefined && asked.until > this.#now()) return asked;
    throw new SvcError("invalid_parameter", "request: its time is over, ask the app to try again", {
      field: "request",
    });
  }
}

/** Why the listener refuses a request. */
export class Refusal extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Stable machine-readable name. */
  readonly code: string;

  /** Constructs a refusal; the message is for people. */
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The address is older than five minutes, was used, or gave way to another login. */
export const gone = (): Refusal =>
  new Refusal(410, "login_expired", "This sign-in is over: start a new one");

/** Why the listener refuses a request. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The address is older than five minutes, was used, or gave way to another login. */
export const gone = (): Refusal =>
  new Refusal(410, "login_expired", "This sign-in is over: start a new one");

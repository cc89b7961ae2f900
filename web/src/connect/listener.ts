import type { LoginLink } from "./login_link.ts";

/** The app that asked does not answer, or refuses. */
export class ListenerError extends Error {
  /** HTTP status of its refusal; 0 when it cannot be reached. */
  readonly status: number;

  /** Constructs the error. */
  constructor(status: number, options?: ErrorOptions) {
    super(
      status === 0 ? "The app is not waiting any more" : `The app answered ${status}`,
      options,
    );
    this.status = status;
  }
}

async function post(port: number, path: string, body: object): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(10_000),
    });
  } catch (cause) {
    throw new ListenerError(0, { cause });
  }
  if (!response.ok) throw new ListenerError(response.status);
  return response;
}

/**
 * Asks the app for the proof that it holds the new key.
 *
 * @returns 128 hex characters.
 */
export async function askForProof(
  link: LoginLink,
  accountId: string,
): Promise<string> {
  const response = await post(link.port, "/proof", { accountId, state: link.state });
  const body: unknown = await response.json().catch(() => undefined);
  const proof = typeof body === "object" && body !== null ? Reflect.get(body, "proof") : undefined;
  if (typeof proof !== "string" || !/^[0-9a-f]{128}$/.test(proof)) {
    throw new ListenerError(response.status);
  }
  return proof;
}

/** What the app is told once its key is added. */
export interface Approval {
  readonly accountId: string;
  readonly walletAddress: string;
  readonly packageId: string;
  readonly label: string;
}

/** Tells the app that its key is added. */
export async function tellApproved(
  link: LoginLink,
  approval: Approval,
): Promise<void> {
  await post(link.port, "/callback", { ...approval, state: link.state });
}

/** Asks the terminal that opened this page for the recovery words of its account. */
export async function askForWords(port: number, state: string): Promise<string> {
  const response = await post(port, "/owner", { state });
  const body: unknown = await response.json().catch(() => undefined);
  const words = typeof body === "object" && body !== null ? Reflect.get(body, "words") : undefined;
  if (typeof words !== "string") throw new ListenerError(response.status);
  return words;
}

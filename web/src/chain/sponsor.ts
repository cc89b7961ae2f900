import { failureOf, SvcConnectionError } from "../../../src/client/failures.ts";
import type { AnswerOf, Sent } from "../../../src/wire/route_types.ts";

/** A transaction that the relayer pays for. */
export interface Sponsored {
  /** BCS bytes of the whole transaction. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Its digest. */
  readonly digest: string;
}

/** Longer than a relayer waits for whoever pays, milliseconds. */
const TIMEOUT_MS = 75_000;

async function post<N extends "POST /sponsor" | "POST /sponsor/execute">(
  url: string,
  body: Sent<N>,
): Promise<AnswerOf<N>> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch (cause) {
    throw new SvcConnectionError(new URL(url).origin, undefined, { cause });
  }
  if (!response.ok) throw failureOf(response, text);
  return JSON.parse(text);
}

/** Asks the relayer to pay for a transaction kind (docs/protocol.md#9.1). */
export async function sponsor(
  relayerUrl: string,
  sender: string,
  kindBytes: Uint8Array,
): Promise<Sponsored> {
  const { bytes, digest } = await post<"POST /sponsor">(`${relayerUrl}/sponsor`, {
    sender,
    transactionBlockKindBytes: kindBytes.toBase64(),
  });
  return { bytes: Uint8Array.fromBase64(bytes), digest };
}

/** Has the relayer execute what it pays for. */
export async function executeSponsored(
  relayerUrl: string,
  digest: string,
  signature: string,
): Promise<void> {
  await post<"POST /sponsor/execute">(`${relayerUrl}/sponsor/execute`, { digest, signature });
}

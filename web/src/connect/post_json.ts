import { failureOf, SvcConnectionError } from "../../../src/client/failures.ts";

/**
 * One POST to the relayer, without a signature.
 *
 * @throws {SvcError} what the relayer refuses it with.
 * @throws {SvcConnectionError} when it does not answer.
 */
export async function postJson<T>(relayerUrl: string, path: string, body: unknown): Promise<T> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(relayerUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(30_000),
    });
    text = await response.text();
  } catch (cause) {
    throw new SvcConnectionError(relayerUrl, undefined, { cause });
  }
  if (!response.ok) throw failureOf(response, text);
  return JSON.parse(text);
}

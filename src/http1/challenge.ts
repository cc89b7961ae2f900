import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** Header that carries the shared secret between relayer and sidecar, both ways. */
export const TOKEN_HEADER = "x-svc-sidecar-token";

/** What the holder of the token answers to a nonce: HMAC-SHA256, 64 hex characters. */
export function answerChallenge(token: string, nonce: string): string {
  return createHmac("sha256", token).update(nonce).digest("hex");
}

/** Compares secrets in a time that tells nothing about them, whatever their lengths. */
export function isSameSecret(given: string, secret: string): boolean {
  // Digests have one length and leave only the comparison itself.
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(given), digest(secret));
}

/**
 * Whether the listener at an address knows the token, before it gets to see anything secret.
 *
 * @param url Address of the sidecar, without a path.
 * @returns `false` for a stranger and for silence.
 */
export async function isSidecar(
  url: string,
  token: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const nonce = crypto.getRandomValues(new Uint8Array(32)).toHex();
  try {
    const response = await fetch(`${url}/challenge`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ nonce }),
      redirect: "error",
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const answer = await firstBytes(response.body, 64);
    return response.ok && isSameSecret(answer, answerChallenge(token, nonce));
  } catch {
    return false;
  }
}

/** The start of a body as text; a stranger's endless answer is cut off. */
async function firstBytes(body: ReadableStream<Uint8Array> | null, count: number): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  let text = "";
  while (text.length <= count) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += new TextDecoder("latin1").decode(value.subarray(0, count + 1));
  }
  await reader.cancel();
  return text;
}

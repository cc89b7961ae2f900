/** Where tests answer in a relayer's or a sidecar's place, as beginnings of addresses. */
const MADE_UP = new Set<string>();

/** Says that answers from addresses that begin so are a test's own, and fit nothing. */
export function answersAreMadeUp(beginning: string): void {
  MADE_UP.add(beginning);
}

/** Answers that say nothing about a route: preflights, and what nobody waits for. */
function isOutside(method: string, status: number, url: string): boolean {
  return method === "OPTIONS" || method === "HEAD" || status === 499 ||
    MADE_UP.values().some((beginning) => url.startsWith(beginning));
}

/**
 * Has an answer checked as soon as somebody reads it. One that does not fit fails its reader, and the
 * test even where that is caught. The table is loaded when it is needed.
 */
export function watched(response: Response, method: string, url: string): Response {
  const { status, headers } = response;
  if (isOutside(method, status, url)) return response;
  // The path as it was sent: a parsed one has no dot segments left.
  const [path = ""] = url.slice(url.indexOf("/", url.indexOf("://") + 3)).split("?");
  const type = headers.get("content-type") ?? "";
  const platform = response.bytes.bind(response);
  const bytes = async () => {
    const whole = await platform();
    const { checkAnswer } = await import("./checked_answers.ts");
    try {
      checkAnswer({ method, path, status, type, text: new TextDecoder().decode(whole) });
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
      throw error;
    }
    return whole;
  };
  const text = async () => new TextDecoder().decode(await bytes());
  return Object.assign(response, {
    bytes,
    text,
    json: async () => JSON.parse(await text()),
    arrayBuffer: async () => (await bytes()).buffer,
  });
}

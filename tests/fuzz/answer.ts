/** Errors that an answer of 500 and above may tell: something is not configured, or has no room. */
const ALLOWED = [
  "llm_disabled",
  "sponsor_disabled",
  "overloaded",
];

/** An answer, as far as it came. */
interface Parsed {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

function parsed(answer: string): Parsed | undefined {
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(answer) ?? [];
  const end = answer.indexOf("\r\n\r\n");
  if (status === undefined || end < 0) return undefined;
  return {
    status: Number(status),
    headers: answer.slice(0, end).toLowerCase(),
    body: answer.slice(end + 4),
  };
}

function codeIn(body: string): unknown {
  try {
    const value = JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1));
    // Of OAuth the name of the error is its code.
    const oauth = typeof value.error_description === "string" ? value.error : undefined;
    return value.code ?? oauth ?? value.error?.data?.code ?? value.error?.code;
  } catch {
    return undefined;
  }
}

/** What is wrong with an answer; `undefined` where nothing is. */
export function faultOf(answer: string, isHead: boolean): string | undefined {
  // A connection that is closed without a word is a refusal, too: of what is no HTTP.
  if (answer === "") return undefined;
  const found = parsed(answer);
  if (found === undefined) return "an answer that is no HTTP";
  const { status, headers, body } = found;
  if (/\n\s+at .+:\d+:\d+/.test(body)) return "a stack trace";
  if (status < 400 || isHead) return undefined;
  // The listener's own refusals, of what is no request it knows, have no body.
  if (status === 501 && body === "") return undefined;
  // A person is told in a text why an app cannot be connected.
  if (status === 400 && body.startsWith("This app cannot be connected.")) return undefined;
  const code = codeIn(body);
  if (status >= 500 && !ALLOWED.includes(String(code))) return `status ${status}, code ${code}`;
  if (body === "") return headers.includes("content-length: 0") ? undefined : "a body is missing";
  return code === undefined ? `status ${status} without a code` : undefined;
}

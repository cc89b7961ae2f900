/** Longest redirect address, in characters. */
export const REDIRECT_CHARACTERS = 512;

/**
 * Schemes of programs that are known to wait for their answer under them. Of others, one with a dot
 * is a name that somebody has (RFC 8252 7.1); what has none may start anything on a computer.
 */
const PROGRAM_SCHEMES: ReadonlySet<string> = new Set([
  "claude",
  "codex",
  "cursor",
  "goose",
  "kiro",
  "raycast",
  "vscode",
  "vscode-insiders",
  "vscodium",
  "warp",
  "windsurf",
  "zed",
]);

/** As `URL` spells them. An address within another, `[::ffff:127.0.0.1]`, is none of them. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether the answer to an address stays on the computer of the browser. */
export function isLoopbackRedirect({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && LOOPBACK.test(hostname);
}

/**
 * An address that an app may have its answer sent to: of the web with TLS, of this computer, or of a
 * program. It is spelled as `URL` does, so that it means the same to everybody.
 *
 * @returns `undefined` for any other.
 */
export function parseRedirect(text: string): URL | undefined {
  if (text.length > REDIRECT_CHARACTERS || !/^[\x21-\x7e]+$/.test(text)) return undefined;
  const url = URL.parse(text);
  if (url === null || text.includes("#") || url.username + url.password !== "") return undefined;
  // `http://127.0.0.1:80` and the like: the browser leaves out what goes without saying.
  const isPlain = url.href === text || url.href === `${text}/`;
  const scheme = url.protocol.slice(0, -1);
  if (scheme === "https") return isPlain && url.hostname !== "" ? url : undefined;
  if (scheme === "http") return isPlain && isLoopbackRedirect(url) ? url : undefined;
  if (!text.startsWith(`${scheme}:/`)) return undefined;
  return PROGRAM_SCHEMES.has(scheme) || /^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+$/.test(scheme)
    ? url
    : undefined;
}

/** Without its port, which a program of this computer cannot know in advance (RFC 8252 7.3). */
function withoutPort(text: string): string | undefined {
  const url = parseRedirect(text);
  if (url === undefined || !isLoopbackRedirect(url)) return undefined;
  url.port = "";
  return url.href;
}

/** Whether an address is one of a client's: byte for byte, but for the port on this computer. */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  if (parseRedirect(asked) === undefined) return false;
  if (registered.includes(asked)) return true;
  const loopback = withoutPort(asked);
  return loopback !== undefined && registered.some((one) => withoutPort(one) === loopback);
}

import type { AnswerOf } from "../../../src/wire/route_types.ts";

/** What an app asks for, as the relayer has checked it. */
export type Question = AnswerOf<"POST /oauth/consent">;

/** The question that the address brings, behind its `#`; `undefined` where there is none. */
export function questionIn(hash: string): string | undefined {
  const request = new URLSearchParams(hash.slice(1)).get("request");
  return request !== null && /^[\w-]{40,12000}$/.test(request) ? request : undefined;
}

/** Who asks, as far as that is certain: who gets the answer. */
export interface Asker {
  /** Where the answer goes, for people: a host and its port, this computer, or a program. */
  readonly place: string;
  /** The same in short. */
  readonly mark: string;
  /** Of these only a host is somebody. */
  readonly kind: "host" | "this computer" | "program";
  /** Whether the host has letters that may look like others. */
  readonly isOdd: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Who gets the answer of a question. */
export function askerOf(redirectUri: string): Asker {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol === "http:" && LOOPBACK.test(hostname)) {
    const mark = "this computer";
    return { place: `A program on ${mark}`, mark, kind: mark, isOdd: false };
  }
  if (protocol !== "https:") {
    const mark = protocol.slice(0, -1);
    return { place: `The program of ${mark}: links`, mark, kind: "program", isOdd: false };
  }
  return { place: host, mark: host, kind: "host", isOdd: /(^|\.)xn--/.test(hostname) };
}

const LABEL_BYTES = 64;

/** A name without what the list of apps sets its own marks with. */
function plainName(name: string): string {
  let left = name;
  for (let before = ""; left !== before;) {
    before = left;
    left = left.replace(/\s*·\s*/g, " ").replace(/^\s*token:\s*/i, "").trim();
  }
  return left;
}

/**
 * What the app's key is called in the list of apps: who gets its answers first, since an app calls
 * itself as it likes, then its name as far as there is room.
 */
export function labelOf({ client_name: name = "", redirect_uri: to }: Question): string {
  const { mark } = askerOf(to);
  // ASCII. The end of a host says whose it is.
  const place = mark.length <= LABEL_BYTES ? mark : `…${mark.slice(3 - LABEL_BYTES)}`;
  let label = "";
  for (const char of [place, plainName(name)].filter((part) => part !== "").join(" · ")) {
    if (new TextEncoder().encode(label + char).length > LABEL_BYTES) break;
    label += char;
  }
  return label.replace(/[\s·]+$/, "");
}

/**
 * Whether a browser may be sent there: the relayer looked at it, and this page does as well, since
 * some addresses would run in it.
 */
export function isWayBack(address: string, { redirect_uri: to }: Question): boolean {
  const url = URL.parse(address);
  const wanted = new URL(to);
  const isScript = /^(javascript|data|vbscript|blob|file|about):$/.test(url?.protocol ?? "");
  return url !== null && !isScript && url.protocol === wanted.protocol &&
    url.host === wanted.host &&
    url.pathname === wanted.pathname;
}

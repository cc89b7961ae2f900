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
  /** Where the answer goes: a host, this computer, or a program. */
  readonly place: string;
  /** Of these only a host is somebody. */
  readonly kind: "host" | "this computer" | "program";
  /** Whether the host has letters that may look like others. */
  readonly isOdd: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Who gets the answer of a question. */
export function askerOf(redirectUri: string): Asker {
  const { protocol, hostname } = new URL(redirectUri);
  if (protocol === "http:" && LOOPBACK.test(hostname)) {
    return { place: "A program on this computer", kind: "this computer", isOdd: false };
  }
  if (protocol !== "https:") {
    return {
      place: `The program of ${protocol.slice(0, -1)}: links`,
      kind: "program",
      isOdd: false,
    };
  }
  return { place: hostname, kind: "host", isOdd: /(^|\.)xn--/.test(hostname) };
}

const LABEL_BYTES = 64;

/** What the app's key is called in the list of apps: with its host, where it has one. */
export function labelOf({ client_name: name, redirect_uri: to }: Question): string {
  const { kind, place } = askerOf(to);
  const host = kind === "host" ? place : undefined;
  const full = [name, host].filter((part) => part !== undefined).join(" · ") || "App";
  let label = "";
  for (const char of full) {
    if (new TextEncoder().encode(label + char).length > LABEL_BYTES) break;
    label += char;
  }
  return label.trim();
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

import { addressOf } from "../../../src/wire/keys.ts";

/** What an app asks for when it sends somebody here (docs/protocol.md#14.2). */
export interface LoginLink {
  /** Port of the app's listener on 127.0.0.1. */
  readonly port: number;
  /** The app's new key, 64 lower-case hex characters. */
  readonly publicKey: string;
  /** Name of the app for people. */
  readonly label: string;
  /** Relayer the key is for. */
  readonly relayer: string;
  /** What ties the answer to the question, 64 lower-case hex characters. */
  readonly state: string;
}

/** A link, or why it is none, for people. */
export type LinkCheck =
  | { readonly link: LoginLink; readonly problem?: undefined }
  | { readonly link?: undefined; readonly problem: string };

const MALFORMED = "This link is not complete. Ask the app for a new one.";
const LABEL_BYTES = 64;

/** One spelling of a relayer's address; `localhost` and `[::1]` are this machine's 127.0.0.1. */
function spelling(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.username + url.password + url.search + url.hash !== "") {
    return undefined;
  }
  if (url.hostname === "localhost" || url.hostname === "[::1]") url.hostname = "127.0.0.1";
  return url.href.replace(/\/+$/, "");
}

/** The one value of a name; `undefined` when it is missing or there are several. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

/** A name that can be shown: no control or invisible characters, at most 64 bytes. */
function isLabel(text: string): boolean {
  return text.trim() !== "" && text.isWellFormed() &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) &&
    new TextEncoder().encode(text).length <= LABEL_BYTES;
}

/**
 * Checks the query of a `/connect/mcp` address.
 *
 * @param search The query as the browser has it.
 * @param relayerUrl The relayer this page belongs to; a link to another one is refused.
 */
export function checkLoginLink(search: string, relayerUrl: string): LinkCheck {
  const query = new URLSearchParams(search);
  const text = (name: string): string => only(query, name) ?? "";
  const port = /^[1-9]\d{3,4}$/.test(text("port")) ? Number(text("port")) : 0;
  const publicKey = text("publicKey").toLowerCase();
  const address = text("delegateAddress").toLowerCase();
  const state = text("state");
  const label = text("label");
  const relayer = spelling(text("relayer"));
  if (
    port < 1025 || port > 65535 || !/^[0-9a-f]{64}$/.test(publicKey) ||
    !/^[0-9a-f]{64}$/.test(state) || relayer === undefined || !isLabel(label)
  ) return { problem: MALFORMED };
  if (address !== addressOf(publicKey)) return { problem: MALFORMED };
  if (relayer !== spelling(relayerUrl)) {
    return {
      problem: `This link is for another relayer (${relayer}). This page belongs to ${relayerUrl}.`,
    };
  }
  return { link: { port, publicKey, label, relayer, state } };
}

import { parseRedirect } from "./redirect_uris.ts";

/** An app that asks to be let in. Anybody may be one: what it says of itself proves nothing. */
export interface OAuthClient {
  /** As the app sends it. */
  readonly clientId: string;
  /** What it calls itself; `undefined` where it says nothing that can be shown. */
  readonly name: string | undefined;
  /** Host that vouches for it by its document; absent for one that registered itself. */
  readonly host?: string;
  /** Where its answers may be sent. */
  readonly redirectUris: readonly string[];
}

/** Most redirect addresses of a client. */
export const REDIRECTS = 10;
/** Most characters of them together: they travel in the client's id. */
const REDIRECTS_CHARACTERS = 2048;
const NAME_BYTES = 64;
/** Marks beyond the second of one letter: piled up they cover the lines around a name. */
const MARKS = /(\p{M}{2})\p{M}+/gu;

/** The redirect addresses of a client, when all of them can be; else `undefined`. */
export function redirectsOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length < 1 || value.length > REDIRECTS) return undefined;
  const all = value.filter((one) => typeof one === "string" && parseRedirect(one) !== undefined);
  if (all.length < value.length || all.join("").length > REDIRECTS_CHARACTERS) return undefined;
  return all;
}

/**
 * A name that can be shown: letters that look like others stay, but nothing hides, turns what stands
 * around it, or begins a line.
 */
export function clientName(value: unknown): string | undefined {
  if (typeof value !== "string" || !value.isWellFormed() || value.length > 1000) return undefined;
  const visible = value.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/\p{Z}+/gu, " ").replace(MARKS, "$1").trim();
  let name = "";
  for (const char of visible) {
    if (new TextEncoder().encode(name + char).length > NAME_BYTES) break;
    name += char;
  }
  return name === "" ? undefined : name;
}

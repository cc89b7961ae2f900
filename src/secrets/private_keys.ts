import type { Finding } from "./kinds.ts";

/** RFC 7468, and the older forms of OpenSSL, OpenSSH and OpenPGP. */
const BEGIN = /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
const END = "-----END";
const END_LINE = /-----END [A-Z0-9 ]{0,40}-----/y;
/** What a key without its last line goes on with, line ends written as `\n` included. */
const BODY = /[A-Za-z0-9+/=\s\\:,-]*/y;
/** A mention of the first line has no body; the shortest key, of Ed25519, has 64 characters. */
const CONTENT = /[A-Za-z0-9+/]{32}/;

/** Each private key in a PEM block, also without its last line. */
export function findPrivateKeys(text: string): Finding[] {
  const found: Finding[] = [];
  BEGIN.lastIndex = 0;
  for (let match = BEGIN.exec(text); match !== null; match = BEGIN.exec(text)) {
    const body = BEGIN.lastIndex;
    const end = endOf(text, body);
    if (CONTENT.test(text.slice(body, end))) {
      found.push({ kind: "private_key", start: match.index, end });
    }
    // Also after a mere mention: nothing is looked at twice.
    BEGIN.lastIndex = end;
  }
  return found;
}

function endOf(text: string, body: number): number {
  BODY.lastIndex = body;
  BODY.exec(text);
  // Hyphens of a last line belong to no body.
  const stop = text.slice(body, BODY.lastIndex).indexOf(END);
  if (stop < 0) return BODY.lastIndex;
  END_LINE.lastIndex = body + stop;
  const line = END_LINE.exec(text)?.[0] ?? "";
  return body + stop + line.length;
}

import { classesOf, isPlaceholder, looksRandom } from "./plausible.ts";

/** How a value is connected with the word that announces it. */
export type Connection = "assigned" | "stated" | "bare";

/** A value as it stands in its sentence, without the punctuation behind it. */
interface Judged {
  readonly text: string;
  readonly quoted: boolean;
  readonly connection: Connection;
  /** Whether it was announced as a number of few digits. */
  readonly pin: boolean;
}

/** What is said about passwords instead of one. */
const NO_VALUE =
  /^(?:required|optional|invalid|incorrect|wrong|weak|strong|missing|empty|null|none|nil|true|false|undefined|string|text|value|password|secret|hidden|unknown|same|default|admin|stored|saved|never|always|not|the|see|ask|n\/a)$/i;
/** Addresses, paths, variables in code, and e-mail addresses. */
const REFERENCE =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|[~/]|\.{1,2}\/|(?:process|os|deno|env|config|secrets|vault)\.|[\w.+-]+@[\w-]+(?:\.[\w-]+)+$)/i;
/** Algorithms, standards, quantities, and the product of that name. */
const TECHNICAL =
  /^(?:(?:sha|md|aes|rsa|ecdsa|ed|base|utf|iso|argon|pbkdf|scrypt|bcrypt|oauth|totp|hotp|hmac|rfc|fido|webauthn|tls|ssl|ssh|pkcs|x|v|ipv|wpa|erc|nist)-?\d{1,4}(?![a-z\d])|1password|\d+(?:st|nd|rd|th|x)\b|[\d.,–-]+-?(?:bit|byte|char|digit|letter|word|symbol|day|week|month|year|hour|minute|second|min|h|d|kb|mb|gb|px|percent|%|€|\$|th|time|step|factor)s?(?!\w))/i;
/** Signs that words do not have inside. */
const SIGN = /[!@#$%^&*+=~|?]/;

const isNothing = (text: string): boolean =>
  isPlaceholder(text) || NO_VALUE.test(text) || REFERENCE.test(text) || TECHNICAL.test(text);

/** How often capitals and small letters take turns. */
function turns(text: string): number {
  return text.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
}

/** Several plain words that a person would choose: `correct horse battery staple`. */
const PASSPHRASE = /^[a-z]+(?:[ ._-][a-z]+){3,}$/;

/** Whether a value has the shape of a password, and not of a word. */
function hasShape(text: string): boolean {
  if (/^\d+$/.test(text)) return text.length >= 5 && text.length <= 32;
  if (text.length < 6 || !/\p{L}/u.test(text)) return false;
  if (/\d/.test(text)) return !/^[\p{L}]+[-_.][\d.]+$/u.test(text);
  if (SIGN.test(text)) return true;
  if (PASSPHRASE.test(text)) return text.length >= 16 && !text.includes("-to-");
  return text.length >= 10 && turns(text) >= 4;
}

const PLAIN = /^[A-Za-z]?[a-z]*$/;

/** Whether a value is an actual password, and no word about one. */
export function isPassword({ text, quoted, connection, pin }: Judged): boolean {
  // Most words that follow are just words.
  if (!quoted && PLAIN.test(text)) return false;
  if (isNothing(text)) return false;
  if (pin) return connection !== "bare" && /^\d{4,8}$/.test(text);
  if (connection === "bare") {
    return text.length >= 8 && !text.includes(" ") && /\d/.test(text) && classesOf(text) >= 3;
  }
  if (quoted) return text.includes(" ") ? PASSPHRASE.test(text) : text.length >= 4;
  return hasShape(text);
}

/** UUIDs are tokens of some services. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Letters and digits in one piece: long enough for no word, and no number. */
const RUN = /[A-Za-z0-9]{12,}/g;

/** Whether a value is a key or token: no sentence has so many letters and digits in disorder. */
export function isToken({ text, connection }: Judged): boolean {
  if (text.length < 16 || text.includes(" ")) return false;
  if (UUID.test(text)) return connection !== "bare";
  const runs = text.match(RUN) ?? [];
  if (!runs.some((run) => /\d/.test(run) && /[A-Za-z]/.test(run))) return false;
  return looksRandom(text) && !isNothing(text);
}

import type { Finding, SecretKind } from "./kinds.ts";
import { type Connection, isPassword, isToken } from "./values.ts";

/** Words that announce a password; the last group, a number. */
const PASSWORD_WORDS = [
  "pass[ _-]?(?:word|wd|phrase|code)",
  "(?<![a-z])pwd?(?![a-z])",
  "passwort|kennwort|contraseña|mot de passe|wachtwoord|пароль|비밀번호|密码|パスワード",
  "(?<![a-z])(?:senha|hasło|clave)(?![a-z])",
];
const PIN_WORDS = ["(?<![a-z])pin(?:[ -](?:code|number))?(?![a-z])"];
/** Words that announce a key or token. */
const KEY_WORDS = [
  "secret(?:[ _-]?access)?[ _-]?key",
  "(?:api|access|private|priv|auth|signing|encryption|master|account|recovery|service|shared ?access)" +
  "[ _-]?(?:key|code)",
  "(?<!design[ _-]?)token(?![a-z])",
  "secret(?![a-z])",
  "(?<![a-z])bearer(?![a-z])",
];
const WORDS = new RegExp(
  `(${PASSWORD_WORDS.join("|")})|(${PIN_WORDS.join("|")})|(?:${KEY_WORDS.join("|")})`,
  "gi",
);

/** `password: …`, `PASSWORD=…`, `"password": "…"`. */
const ASSIGNED = /["'`*_\])]{0,3}\s{0,3}(?::=|=>|={1,2}|:)\s{0,3}/y;
/** `password for the guest wifi is …`, `Passwort lautet …`, `비밀번호는 …`. */
const STATED =
  /["'`*_]{0,2}(?:\s(?:for|to|of|on|at|in|from|für|zum|para|de|del|pour)\s(?:[^\n.!?;:=]|[.:](?=\S)){1,60}?)?(?:\s(?:is|was|will be|ist|lautet|es|est|é)[:=]?\s+(?:now\s+|still\s+|currently\s+|set to\s+)?|\s?[:=]\s+|(?:은|는|は)\s{0,2})/iy;
/** `log in with password …`, `changed the password to …`. */
const BARE = /\s+(?:to\s+)?/y;
/** `… is my password`, `… as the password for the NAS`: what stands between value and word. */
const VERBS = [" is ", " was ", " as "];
const OWNER = /^(?:my|the|our|his|her|their)\s(?:[\w-]{1,20}\s){0,3}$/i;
const BEFORE_UNITS = 160;

const OPENING = /["'`“„‘«*]{1,2}/y;
const QUOTED = /[^"'`”“’»*\n]{1,128}(?=["'`”“’»*])/y;
/** Enough to judge a value; the rest is read of secrets only. */
const BEGINNING = /\S{4,128}/y;
const BEGINNING_UNITS = 128;
const REST = /\S*/y;
const PUNCTUATION = ".,;:)]}>\"'`”’»*";
/** What is longer and no secret is read once, unless it may be made of names and values itself. */
const LONG = 32;
const COMPOUND = /["'{]|[?&]\w{1,64}=/;

interface Value {
  readonly start: number;
  readonly text: string;
  readonly quoted: boolean;
  readonly connection: Connection;
}

function withoutPunctuation(text: string): string {
  let end = text.length;
  while (end > 0 && PUNCTUATION.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** Where a sticky pattern ends that begins at a place; -1 where it does not. */
function endAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

const CONNECTIONS = [["assigned", ASSIGNED], ["stated", STATED], ["bare", BARE]] as const;

/** The value behind a word that ends at `at`, and how it is connected. */
function valueAfter(text: string, at: number): Value | undefined {
  for (const [connection, pattern] of CONNECTIONS) {
    const from = endAt(pattern, text, at);
    if (from >= 0) return valueAt(text, from, connection);
  }
  return undefined;
}

function valueAt(text: string, at: number, connection: Connection): Value | undefined {
  const opened = endAt(OPENING, text, at);
  if (opened >= 0) {
    const end = endAt(QUOTED, text, opened);
    if (end >= 0) return { start: opened, text: text.slice(opened, end), quoted: true, connection };
  }
  const start = Math.max(at, opened);
  const end = endAt(BEGINNING, text, start);
  if (end < 0) return undefined;
  const run = text.slice(start, end);
  // `Password=…;Database=…` and `?token=…&page=2` go on.
  const isPart = connection === "assigned" && text[at - 1] === "=";
  const value = isPart ? run.replace(/[;&].*$/s, "") : run;
  // Whoever writes `PASSWORD=` without a blank means a value, also by a plain word.
  const quoted = isPart && /\w/.test(text[at - 2] ?? "");
  return { start, text: value, quoted, connection };
}

/** Where a value ends that may be longer than what was looked at. */
function endOf(text: string, { start, text: value, quoted }: Value): number {
  const end = start + value.length;
  if (quoted && value.length < BEGINNING_UNITS) return end;
  const whole = value.length < BEGINNING_UNITS ? end : endAt(REST, text, end);
  return start + withoutPunctuation(text.slice(start, whole)).length;
}

function kindOf(word: string, value: string): SecretKind {
  if (/secret.?access.?key/i.test(word) && /^[A-Za-z0-9/+]{40}$/.test(value)) {
    return "aws_secret_key";
  }
  if (/^(?:account|shared)/i.test(word) && value.endsWith("=")) return "connection_string";
  return /^priv|^signing/i.test(word) ? "private_key" : "api_token";
}

function valueBefore(text: string, at: number): Value | undefined {
  const from = Math.max(0, at - BEFORE_UNITS);
  const before = text.slice(from, at);
  for (const verb of VERBS) {
    const end = before.lastIndexOf(verb);
    if (end < 0 || !OWNER.test(before.slice(end + verb.length))) continue;
    const start = Math.max(before.lastIndexOf(" ", end - 1), before.lastIndexOf("\n", end)) + 1;
    const value = before.slice(start, end);
    // One that is cut off is too long to be typed.
    if (from > 0 && start === 0) return undefined;
    const opened = Math.max(0, endAt(OPENING, value, 0));
    return {
      start: from + start + opened,
      text: value.slice(opened),
      quoted: false,
      connection: "bare",
    };
  }
  return undefined;
}

/** What kind of secret a value is behind, or before, the words of a match; absent for none. */
function kindIn(text: string, match: RegExpExecArray, value: Value): SecretKind | undefined {
  const [word, passwordWord, pinWord] = match;
  const bare = withoutPunctuation(value.text);
  const judged = { ...value, text: bare, pin: pinWord !== undefined };
  if (passwordWord === undefined && pinWord === undefined) {
    return isToken(judged) ? kindOf(word, bare) : undefined;
  }
  if (!isPassword(judged)) return undefined;
  return text[value.start + value.text.length] === ";" ? "connection_string" : "password";
}

/** Each value that its sentence, or the name before it, says is a password, key or token. */
export function findStatements(text: string): Finding[] {
  const found: Finding[] = [];
  const note = (match: RegExpExecArray, value: Value | undefined): void => {
    const kind = value && kindIn(text, match, value);
    if (kind === undefined) return;
    found.push({ kind, start: value!.start, end: endOf(text, value!) });
    WORDS.lastIndex = Math.max(WORDS.lastIndex, found.at(-1)!.end);
  };
  WORDS.lastIndex = 0;
  for (let match = WORDS.exec(text); match !== null; match = WORDS.exec(text)) {
    const at = WORDS.lastIndex;
    if (match[1] !== undefined) note(match, valueBefore(text, match.index));
    const after = valueAfter(text, at);
    note(match, after);
    if (after === undefined || after.connection === "bare" || after.text.length <= LONG) continue;
    if (COMPOUND.test(after.text)) continue;
    WORDS.lastIndex = Math.max(WORDS.lastIndex, after.start + after.text.length);
  }
  return found;
}

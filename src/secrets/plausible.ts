/** What people write where a secret would stand. */
const STAND_IN =
  /example|your[-_ ]|change[-_]?me|placeholder|redacted|dummy|xxxx|\*\*\*|\.\.\.|…|insert[-_]|sample/i;
/** `<key>`, `[key]`, `{key}`, `$KEY`, `${KEY}`, `$(command)`, `%KEY%`. */
const VARIABLE = /^(?:[<[{]|\$[A-Z_{(]|%[A-Z_]+%)/;
/** Characters of a value that are looked at: whatever is longer is judged by its beginning. */
const JUDGED = 48;

/** Whether a value only stands for one, such as `***`, `<your key>` or `$API_KEY`. */
export function isPlaceholder(value: string): boolean {
  const judged = value.slice(0, JUDGED);
  return VARIABLE.test(judged) || STAND_IN.test(judged) || new Set(judged).size <= 2;
}

/** Share of characters that follow the one before, as in `abcdef` and `123456`. */
function sequential(value: string): number {
  let steps = 0;
  for (let i = 1; i < value.length; i++) {
    if (value.charCodeAt(i) - value.charCodeAt(i - 1) === 1) steps++;
  }
  return steps / (value.length - 1);
}

/** Whether a value may have been drawn at random: of many characters, and in no order. */
export function looksRandom(value: string): boolean {
  const judged = value.slice(0, JUDGED);
  return new Set(judged).size >= 7 && sequential(judged) < 0.5 && !isPlaceholder(judged);
}

/** How many of small letters, capitals, digits and signs a value has. */
export function classesOf(value: string): number {
  return [/[a-z]/, /[A-Z]/, /\d/, /[^\w\s]/].filter((one) => one.test(value)).length;
}

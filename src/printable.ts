/** Controls, formats such as those that turn the direction of writing, and halves of characters. */
const ODD =
  /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0]/gu;
const LINE_ENDS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/**
 * A text of somebody else as a terminal may show it: what would steer the terminal, hide, or turn what
 * stands around it is shown as `\u{…}`. Line feeds and tabs stay, and so do the joiners that
 * letters and emojis need.
 */
export function printable(text: string): string {
  return text.replace(ODD, (odd) => `\\u{${odd.codePointAt(0)!.toString(16)}}`);
}

/** The same on one line, its line ends shown as `↵`: no text can pose as a further line. */
export function onOneLine(text: string): string {
  return printable(text.replace(LINE_ENDS, "↵").replaceAll("\t", " "));
}
